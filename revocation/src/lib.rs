#![doc = include_str!("../README.md")]

pub mod body;
pub mod compat;
pub mod delta;
pub mod disk;
pub mod draft;
pub mod entries;
pub mod entry;
pub mod expiry;
pub mod files;
pub mod floor;
pub mod fresh;
pub mod groups;
pub mod head;
pub mod held;
pub mod keeper;
pub mod limits;
pub mod list;
pub mod lists;
pub mod low_s;
pub mod name;
#[cfg(feature = "net")]
pub mod net;
pub mod plan;
pub mod published;
pub mod refusal;
#[cfg(test)]
mod testing;

pub use body::Body;
pub use delta::Delta;
pub use draft::{Draft, DraftError};
pub use entries::Entries;
pub use entry::Entry;
pub use expiry::Listed;
pub use files::PublishedFiles;
pub use floor::{Floor, FloorFolder, FloorInMemory, FloorStore};
pub use fresh::{Fresh, Stale};
pub use head::{Head, SourceTime};
pub use held::Held;
pub use keeper::{Content, Examined, Keeper};
pub use list::ListVersion;
pub use lists::Lists;
pub use low_s::LowS;
pub use name::BodyName;
pub use published::Published;
pub use refusal::ListRefusal;
