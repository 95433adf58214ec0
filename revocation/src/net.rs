//! The network's side of lists (feature `net`): one bounded fetch, the watchers, and the server of lists.

pub mod clock;
pub mod fetch;
mod pace;
pub mod serve;
pub mod target;
#[cfg(test)]
mod tests;
pub mod watch;

pub use clock::{Clock, SystemClock};
pub use fetch::{FetchError, FetchLimits, Fetched, Fetcher};
pub use serve::{Served, router};
pub use target::{ListUrl, Target};
pub use watch::{WatchOptions, WatchState, Watcher};
