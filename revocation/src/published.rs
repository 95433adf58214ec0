//! A signed list with everything that its head names: what a publisher stores and serves.

use std::{fmt, sync::Arc};

use pact_mandate::{Authentic, KeyRing, Signed, signed::SignedError};

use crate::{
    body::Body,
    delta::Delta,
    groups::BodyError,
    head::{EntriesName, Head},
    list::ListVersion,
    name::BodyName,
};

/// A list of ours: its signed head, its body and its deltas. Made by signing a [`crate::Draft`], or read back from where a
/// publisher stored it. Cheap to clone.
#[derive(Clone)]
pub struct Published {
    head: Authentic<Head>,
    body: Stored<Body>,
    deltas: Arc<[Stored<Delta>]>,
}

/// A body or delta with its bytes and their name.
pub(crate) struct Stored<T> {
    pub(crate) name: BodyName,
    pub(crate) bytes: Arc<[u8]>,
    pub(crate) value: Arc<T>,
}

/// Why a stored list cannot be continued.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReopenError {
    /// The head is not ours.
    #[error("the stored head: {0}")]
    Head(#[from] SignedError),
    /// A file that the head names is gone.
    #[error("the stored body {0} is missing; restore it before publishing, a list is never begun anew")]
    Missing(BodyName),
    /// A file is not what its name says.
    #[error("the stored body {0} does not hash to its name")]
    NotItsName(BodyName),
    /// A file is no body or delta.
    #[error("the stored body {name}: {fault}")]
    Content {
        /// Which file.
        name: BodyName,
        /// What is wrong.
        fault: BodyError,
    },
    /// The body is not the one that the head describes.
    #[error("the stored body {0} has another size than the head says")]
    Size(BodyName),
}

impl Published {
    pub(crate) fn new(head: Authentic<Head>, body: Stored<Body>, deltas: Vec<Stored<Delta>>) -> Published {
        Published { head, body, deltas: deltas.into() }
    }

    /// Reads a stored list back, to continue it: `file` gives the bytes that were stored under a name. A delta that is gone is
    /// left out of later heads; the body must be there.
    pub fn reopen(
        head: &[u8],
        keys: &impl KeyRing,
        mut file: impl FnMut(&BodyName) -> Option<Vec<u8>>,
    ) -> Result<Published, ReopenError> {
        let head = Signed::<Head>::from_bytes(head)?.open(keys)?;
        let entries = *head.statement().entries();
        let bytes = file(&entries.sha256).ok_or(ReopenError::Missing(entries.sha256))?;
        let body = Stored::read(entries.sha256, bytes, Body::from_bytes)?;
        if EntriesName::of(&body.value) != entries {
            return Err(ReopenError::Size(entries.sha256));
        }
        let mut deltas = Vec::new();
        for delta in head.statement().deltas() {
            if let Some(bytes) = file(&delta.sha256) {
                deltas.push(Stored::read(delta.sha256, bytes, Delta::from_bytes)?);
            }
        }
        Ok(Published::new(head, body, deltas))
    }

    /// The signed head.
    pub fn head(&self) -> &Authentic<Head> {
        &self.head
    }

    /// The head as it travels.
    pub fn head_bytes(&self) -> Result<Vec<u8>, SignedError> {
        self.head.signed().to_bytes()
    }

    /// The number of the list.
    pub fn version(&self) -> ListVersion {
        self.head.statement().version()
    }

    /// The whole set.
    pub fn body(&self) -> &Body {
        &self.body.value
    }

    /// The bytes of the body.
    pub fn body_bytes(&self) -> &Arc<[u8]> {
        &self.body.bytes
    }

    /// The deltas with their names and bytes, the newest base first.
    pub fn deltas(&self) -> impl Iterator<Item = (&BodyName, &Arc<[u8]>)> {
        self.deltas.iter().map(|delta| (&delta.name, &delta.bytes))
    }

    /// The same set under a head that says something else: for lists that an honest publisher never signs.
    #[cfg(test)]
    pub(crate) fn signed_as(
        &self,
        signer: &dyn pact_mandate::Signer,
        version: ListVersion,
        previous: Option<BodyName>,
        issued_at: pact_mandate::UnixTime,
    ) -> Published {
        let mut wire = crate::head::HeadWire::from(self.head.statement().clone());
        (wire.version, wire.previous, wire.issued_at) = (version, previous, issued_at);
        wire.next_update = issued_at.plus(60);
        let head = Head::new(wire).unwrap();
        let head = pact_mandate::signed::Prepared::new(head).unwrap().sign(signer).unwrap();
        Published::new(head, self.body.clone(), self.deltas.to_vec())
    }

    pub(crate) fn stored_body(&self) -> &Stored<Body> {
        &self.body
    }

    pub(crate) fn stored_deltas(&self) -> &[Stored<Delta>] {
        &self.deltas
    }
}

impl<T> Stored<T> {
    pub(crate) fn size(&self) -> u64 {
        u64::try_from(self.bytes.len()).unwrap_or(u64::MAX)
    }

    fn read(
        name: BodyName,
        bytes: Vec<u8>,
        read: impl FnOnce(&[u8]) -> Result<T, BodyError>,
    ) -> Result<Stored<T>, ReopenError> {
        if BodyName::of(&bytes) != name {
            return Err(ReopenError::NotItsName(name));
        }
        let value = read(&bytes).map_err(|fault| ReopenError::Content { name, fault })?;
        Ok(Stored { name, bytes: bytes.into(), value: Arc::new(value) })
    }
}

impl<T> Clone for Stored<T> {
    fn clone(&self) -> Stored<T> {
        Stored { name: self.name, bytes: Arc::clone(&self.bytes), value: Arc::clone(&self.value) }
    }
}

impl<T> fmt::Debug for Stored<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Stored({})", self.name)
    }
}

impl fmt::Debug for Published {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Published({}, {:?}, {} deltas)", self.version(), self.body.value, self.deltas.len())
    }
}
