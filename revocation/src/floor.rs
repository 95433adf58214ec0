//! The floor: what was seen of an issuer's list, so that nothing older passes for new (protocol R7).

use std::{
    collections::BTreeMap,
    path::PathBuf,
    sync::{Arc, Mutex, PoisonError},
};

use pact_mandate::{Format, IssuerId, key::Thumbprint};

use crate::{body::Body, limits::MAX_ENTRIES, list::ListVersion, name::BodyName};

pub mod file;
mod joined;

pub use file::FloorFolder;

/// What was seen of one list of an issuer: per list key the highest version with its entries' digest, and the entries
/// themselves, so that none of them is forgotten by a restart or a new key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Floor {
    pub(crate) key: Thumbprint,
    pub(crate) marks: BTreeMap<Thumbprint, Mark>,
    pub(crate) body: Arc<Body>,
    /// Entries that count although the last list does not hold them, as a body of their own.
    pub(crate) kept: Arc<Body>,
}

/// The highest version seen under one key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mark {
    /// The version.
    pub version: ListVersion,
    /// Name of its body.
    pub entries: BodyName,
}

/// Where floors are kept.
pub trait FloorStore: Send {
    /// The floor of an issuer's list; `None` only when there never was one.
    fn load(&self, issuer: &IssuerId, kind: Format) -> Result<Option<Floor>, FloorError>;
    /// Raises the floor from `base`, which the caller has read or raised before, to `floor`, and returns the floor that is
    /// kept now: higher than `floor` when somebody else has raised it meanwhile, and never lower than what was kept. When
    /// this returns, it outlives the process and the machine's power.
    fn raise(
        &self,
        issuer: &IssuerId,
        kind: Format,
        base: Option<&Floor>,
        floor: &Floor,
    ) -> Result<Floor, FloorError>;
}

/// A floor that lasts as long as the process: for tests, and for judging once, offline.
#[derive(Debug, Default)]
pub struct FloorInMemory {
    floors: Mutex<BTreeMap<(IssuerId, Format), Floor>>,
}

/// Why a floor cannot be read or written. An unreadable floor is a fault, never a fresh start.
#[derive(Debug, thiserror::Error)]
pub enum FloorError {
    /// The operating system refused.
    #[error("{path}: {source}")]
    Io {
        /// The file.
        path: PathBuf,
        /// What it said.
        source: std::io::Error,
    },
    /// The file is there and is not a floor.
    #[error(
        "{path} is damaged; without it an old list could pass for new. Restore it, or delete it knowing that"
    )]
    Damaged {
        /// The file.
        path: PathBuf,
    },
    /// Two different lists under one number, one of them seen by another process (protocol R6).
    #[error(
        "list {version} was seen elsewhere with the entries {seen} and here with {found}: its issuer signed both. Ask it; \
         if its list key was stolen, pin the new one"
    )]
    Equivocation {
        /// The number.
        version: ListVersion,
        /// Name of the body that was seen elsewhere.
        seen: BodyName,
        /// Name of the body that was seen here.
        found: BodyName,
    },
    /// More kept entries than a body can hold: written down, it could not be read back.
    #[error("{count} entries of earlier lists would be kept, at most {MAX_ENTRIES} can be")]
    TooManyKept {
        /// How many.
        count: u64,
    },
    /// Each of two floors is below the other, as after a folder was put back from a copy.
    #[error(
        "the floor on disk and the one in memory are each below the other; start again to go on from the disk"
    )]
    Diverged,
    /// The floor cannot be written down; a fault of ours.
    #[error("the floor has no written form, so the list is not used; report this, it is a fault of ours")]
    Unwritable,
}

impl Floor {
    /// Refuses to keep more than can be read back (protocol C1, R7).
    pub(crate) fn check_kept(&self, most: u64) -> Result<(), FloorError> {
        let count = self.kept.count();
        if count <= most { Ok(()) } else { Err(FloorError::TooManyKept { count }) }
    }

    /// The version seen under the key that signed last.
    pub fn version(&self) -> ListVersion {
        self.marks.get(&self.key).map_or(ListVersion::ZERO, |mark| mark.version)
    }

    /// The key that signed the last list.
    pub fn key(&self) -> &Thumbprint {
        &self.key
    }

    /// The highest versions, by key.
    pub fn marks(&self) -> &BTreeMap<Thumbprint, Mark> {
        &self.marks
    }
}

impl FloorStore for FloorInMemory {
    fn load(&self, issuer: &IssuerId, kind: Format) -> Result<Option<Floor>, FloorError> {
        let floors = self.floors.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(floors.get(&(issuer.clone(), kind)).cloned())
    }

    fn raise(
        &self,
        issuer: &IssuerId,
        kind: Format,
        base: Option<&Floor>,
        floor: &Floor,
    ) -> Result<Floor, FloorError> {
        let mut floors = self.floors.lock().unwrap_or_else(PoisonError::into_inner);
        let place = (issuer.clone(), kind);
        let raised = match floors.get(&place) {
            Some(stored) if !base.is_some_and(|base| base.is_same_as(stored)) => {
                floor.joined(stored, kind)?
            }
            _ => floor.clone(),
        };
        floors.insert(place, raised.clone());
        Ok(raised)
    }
}

impl<T: FloorStore + ?Sized + Sync> FloorStore for Arc<T>
where
    Arc<T>: Send,
{
    fn load(&self, issuer: &IssuerId, kind: Format) -> Result<Option<Floor>, FloorError> {
        T::load(self, issuer, kind)
    }

    fn raise(
        &self,
        issuer: &IssuerId,
        kind: Format,
        base: Option<&Floor>,
        floor: &Floor,
    ) -> Result<Floor, FloorError> {
        T::raise(self, issuer, kind, base, floor)
    }
}
