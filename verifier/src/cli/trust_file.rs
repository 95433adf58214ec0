//! The trust file: issuers, their roots and remits, and where their lists lie.

use std::path::{Path, PathBuf};

use pact_mandate::{Format, IssuerId, KeyId, jwks::KeySet};
use pact_verifier::{
    RootKey, TrustSnapshot, TrustedIssuer,
    strict::{ConfigFault, StrictTable},
    trust::{KeyOwners, KeyRole, Projects, Speaks, TrustError},
};

use super::{
    Unjudged,
    inputs::{read_bytes, read_text},
};

/// A trust file, read.
pub(crate) struct TrustFile {
    pub(crate) trust: TrustSnapshot,
    pub(crate) lists: Vec<ListFiles>,
}

/// The files of one issuer's lists.
pub(crate) struct ListFiles {
    pub(crate) issuer: IssuerId,
    pub(crate) own: Option<OwnList>,
    /// Compatible lists, which the issuer's mandate keys sign (protocol K1).
    pub(crate) compatible: Vec<(Format, PathBuf)>,
    pub(crate) mandate_keys: KeySet,
}

/// Our own kind of list.
pub(crate) struct OwnList {
    pub(crate) keys: KeySet,
    pub(crate) head: PathBuf,
    /// The body, or a folder in which it lies under its hash.
    pub(crate) bodies: PathBuf,
}

impl TrustFile {
    pub(crate) fn read(path: &Path) -> Result<TrustFile, Unjudged> {
        let folder = path.parent().unwrap_or(Path::new(""));
        let in_file = |error: ConfigFault| Unjudged::new(path.display(), error);
        let mut file = StrictTable::parse(&read_text(path)?).map_err(in_file)?;
        let tables = file.tables("issuers").map_err(in_file)?;
        file.finish().map_err(in_file)?;
        let (mut issuers, mut lists) = (Vec::new(), Vec::new());
        for table in tables {
            let (issuer, files) = Reader { path, folder, table }.issuer()?;
            issuers.push(issuer);
            lists.push(files);
        }
        if issuers.is_empty() {
            return Err(Unjudged::new(path.display(), "names no issuer: add [[issuers]]"));
        }
        let refused = |error| Unjudged::new(path.display(), error);
        check_owners(&issuers, &lists).map_err(refused)?;
        let trust = TrustSnapshot::new(issuers).map_err(refused)?;
        Ok(TrustFile { trust, lists })
    }
}

/// Roots and list keys of all issuers together (protocol K1, K3).
fn check_owners(issuers: &[TrustedIssuer], lists: &[ListFiles]) -> Result<(), TrustError> {
    let mut owners = KeyOwners::default();
    for issuer in issuers {
        for key in issuer.roots.iter().filter_map(RootKey::thumbprint) {
            owners.note(&issuer.id, KeyRole::Root, key)?;
        }
    }
    for files in lists {
        for (_, key) in files.own.iter().flat_map(|own| own.keys.keys()) {
            owners.note(&files.issuer, KeyRole::List, key.thumbprint())?;
        }
    }
    Ok(())
}

/// One `[[issuers]]`.
struct Reader<'a> {
    path: &'a Path,
    folder: &'a Path,
    table: StrictTable,
}

impl Reader<'_> {
    fn issuer(mut self) -> Result<(TrustedIssuer, ListFiles), Unjudged> {
        let id = self.table.needed_text("id").map_err(|error| self.fault(&error))?;
        let id: IssuerId = id.parse().map_err(|error| Unjudged::new(self.path.display(), error))?;
        let roots = self.roots()?;
        let speaks = self.speaks()?;
        let bearer = self.table.flag("bearer").map_err(|error| self.fault(&error))?;
        let lists = self.lists(&id, &roots)?;
        let path = self.path;
        self.table.finish().map_err(|error| Unjudged::new(path.display(), error))?;
        Ok((TrustedIssuer { id, roots, speaks, bearer }, lists))
    }

    fn roots(&mut self) -> Result<Vec<RootKey>, Unjudged> {
        let mut roots = Vec::new();
        if let Some(keys) = self.key_set("keys")? {
            roots.extend(keys.keys().iter().map(|(id, key)| RootKey::Ed25519 { id: id.clone(), key: *key }));
        }
        for mut table in self.table.tables("roots").map_err(|error| self.fault(&error))? {
            let root = pinned(&mut table).and_then(|root| table.finish().map(|()| root));
            roots.push(root.map_err(|error| self.fault(&error))?);
        }
        Ok(roots)
    }

    fn speaks(&mut self) -> Result<Speaks, Unjudged> {
        let mut texts = |key| self.table.texts(key);
        let read = texts("formats").and_then(|formats| Ok((formats, texts("actions")?, texts("projects")?)));
        let (formats, actions, projects) = read.map_err(|error| self.fault(&error))?;
        let wrong = |key, wanted| self.fault(&self.table.wrong(key, wanted));
        let formats: Option<_> = formats.iter().map(|name| Format::from_name(name)).collect();
        let actions: Result<_, _> = actions.iter().map(|action| action.parse()).collect();
        Ok(Speaks {
            formats: formats.ok_or_else(|| wrong("formats", "tenuo, biscuit or pact"))?,
            actions: actions.map_err(|_| wrong("actions", "actions such as task.read, task.* or *"))?,
            projects: Projects::from_texts(&projects)
                .map_err(|_| wrong("projects", "[\"*\"] alone, or projects of a-z, 0-9 and '-'"))?,
        })
    }

    fn lists(&mut self, issuer: &IssuerId, roots: &[RootKey]) -> Result<ListFiles, Unjudged> {
        let ed25519 = roots.iter().filter_map(|root| match root {
            RootKey::Ed25519 { id, key } => Some((id.clone(), *key)),
            RootKey::P256 { .. } => None,
        });
        let mandate_keys =
            KeySet::new(ed25519.collect()).map_err(|error| Unjudged::new(self.path.display(), error))?;
        let mut files = ListFiles { issuer: issuer.clone(), own: None, compatible: Vec::new(), mandate_keys };
        let Some(table) = self.table.table("list").map_err(|error| self.fault(&error))? else {
            return Ok(files);
        };
        let mut inner = Reader { path: self.path, folder: self.folder, table };
        let mut place = |key| inner.table.text(key).map(|text| text.map(|text| self.folder.join(text)));
        let read =
            place("head").and_then(|head| Ok((head, place("bodies")?, place("tenuo")?, place("biscuit")?)));
        let (head, bodies, tenuo, biscuit) = read.map_err(|error| self.fault(&error))?;
        files.compatible.extend(tenuo.map(|path| (Format::Tenuo, path)));
        files.compatible.extend(biscuit.map(|path| (Format::Biscuit, path)));
        let keys = inner.key_set("keys")?;
        files.own = match (head, bodies, keys) {
            (Some(head), Some(bodies), Some(keys)) => Some(OwnList { keys, head, bodies }),
            (None, None, None) => None,
            _ => {
                return Err(
                    inner.fault(&inner.table.wrong("head", "head, bodies and keys, or none of the three"))
                );
            }
        };
        inner.table.finish().map_err(|error| self.fault(&error))?;
        Ok(files)
    }

    fn key_set(&mut self, key: &'static str) -> Result<Option<KeySet>, Unjudged> {
        let Some(name) = self.table.text(key).map_err(|error| self.fault(&error))? else { return Ok(None) };
        let path = self.folder.join(name);
        let keys = KeySet::from_document(&read_bytes(&path)?);
        keys.map(Some).map_err(|error| Unjudged::new(path.display(), error))
    }

    fn fault(&self, error: &ConfigFault) -> Unjudged {
        Unjudged::new(self.path.display(), error)
    }
}

/// `{ id = NAME, ed25519 = TEXT }` or `{ id = NAME, p256 = HEX }`.
fn pinned(table: &mut StrictTable) -> Result<RootKey, ConfigFault> {
    let id: KeyId = table.needed_text("id")?.parse().map_err(|_| table.wrong("id", "a key id"))?;
    match (table.text("ed25519")?, table.text("p256")?) {
        (Some(text), None) => {
            let key = text
                .parse()
                .map_err(|_| table.wrong("ed25519", "a public key: 43 characters of base64url"))?;
            Ok(RootKey::Ed25519 { id, key })
        }
        (None, Some(digits)) => {
            let wanted = "a compressed point of P-256: 66 lower-case hex digits";
            RootKey::p256(Some(id), &digits).map_err(|_| table.wrong("p256", wanted))
        }
        _ => Err(table.wrong("ed25519", "ed25519 or p256, one of the two")),
    }
}
