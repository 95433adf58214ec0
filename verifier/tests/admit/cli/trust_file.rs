//! The trust file: whose each key is, and which list speaks for an issuer.

use pact_revocation::{
    ListVersion,
    compat::{biscuit::BiscuitList, tenuo::TenuoList},
};

use super::*;

/// A second issuer, whose keys are in these files.
fn and_another(keys: &str, list_keys: &str) -> String {
    let other = TRUST.replace(ISSUER, "https://other.example");
    let (roots, list) = other.split_once("[issuers.list]").unwrap();
    let roots = roots.replace("keys.json", keys);
    format!("{TRUST}\n{roots}[issuers.list]{}", list.replace("list-keys.json", list_keys))
}

/// Refused as a whole, with the rule's reason.
fn refused(folder: &Folder, trust: &str) -> String {
    folder.write("trust.toml", trust);
    let (exit, verdict) = folder.check(WITHOUT);
    assert_eq!((exit, text(&verdict, &["code"])), (2, "input_unusable"), "{verdict:?}\n{trust}");
    text(&verdict, &["reason"]).to_owned()
}

#[test]
fn k3_a_key_that_two_issuers_claim_refuses_the_trust_file() {
    let folder = Folder::tenuo();
    folder.write("other-keys.json", key_set(11).to_document());
    folder.write("other-list-keys.json", key_set(12).to_document());
    // With keys of its own a second issuer harms nobody.
    folder.write("trust.toml", and_another("other-keys.json", "other-list-keys.json"));
    folder.write("policy.toml", POLICY);
    assert_eq!(folder.code(WITHOUT), (0, "none".to_owned()));

    let claims = [
        ("keys.json", "other-list-keys.json", ROOT),
        ("other-keys.json", "list-keys.json", LIST),
        // In the other role, it is the other issuer's all the same.
        ("list-keys.json", "other-list-keys.json", LIST),
        ("other-keys.json", "keys.json", ROOT),
    ];
    for (keys, list_keys, seed) in claims {
        let reason = refused(&folder, &and_another(keys, list_keys));
        let thumbprint = public(seed).thumbprint().to_string();
        for part in [&thumbprint, ISSUER, "https://other.example"] {
            assert!(reason.contains(part), "{reason}");
        }
    }
    // Pinned by value, it is the same key.
    let pinned = format!("roots = [{{ id = \"mine\", ed25519 = \"{}\" }}]", public(ROOT));
    let trust = and_another("PINNED", "other-list-keys.json").replace("keys = \"PINNED\"", &pinned);
    assert!(refused(&folder, &trust).contains(ISSUER));
}

#[test]
fn k1_a_key_with_two_roles_refuses_the_trust_file() {
    let folder = Folder::tenuo();
    let reason = refused(&folder, &TRUST.replace("\"list-keys.json\"", "\"keys.json\""));
    assert!(reason.contains("a key has one role"), "{reason}");
}

#[test]
fn k3_an_issuer_named_twice_refuses_the_trust_file() {
    let folder = Folder::tenuo();
    let reason = refused(&folder, &format!("{TRUST}\n{TRUST}"));
    assert!(reason.contains("configured twice") || reason.contains("belongs to"), "{reason}");
}

#[test]
fn k2_k5_the_trust_file_reads_remits_and_points_as_strictly_as_the_sidecar() {
    let folder = Folder::tenuo();
    for slip in ["[\"*\", \"web\"]", "[\"web\", \"*\"]"] {
        let reason = refused(&folder, &TRUST.replace("projects = [\"web\"]", &format!("projects = {slip}")));
        assert!(reason.contains("projects"), "{reason}");
    }
    let point = "036b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c296";
    let pinned = |digits: &str| {
        let roots = format!("roots = [{{ id = \"p\", p256 = \"{digits}\" }}]\n[issuers.list]");
        TRUST.replace("[issuers.list]", &roots)
    };
    folder.write("trust.toml", pinned(point));
    assert_eq!(folder.code(WITHOUT), (0, "none".to_owned()));
    let reason = refused(&folder, &pinned(&point.to_uppercase()));
    assert!(reason.contains("p256"), "{reason}");
}

/// The trust file with both compatible lists beside the issuer's own.
fn with_compatible() -> String {
    format!("{TRUST}tenuo = \"tenuo.srl\"\nbiscuit = \"biscuit.json\"\n")
}

/// Compatible lists that are fresh and name nothing.
fn write_compatible(folder: &Folder) {
    let (version, issued_at) = (ListVersion::try_from(1).unwrap(), folder.world.now.wall);
    let tenuo = TenuoList { version, issued_at, warrants: Vec::new() };
    folder.write("tenuo.srl", tenuo.sign(&key(ROOT)).unwrap());
    let biscuit = BiscuitList::new(version, issued_at, std::iter::empty());
    folder.write("biscuit.json", biscuit.sign(&key(ROOT)).unwrap());
}

/// R4: a chain is live only by its own issuer's list. `code` is the refusal, `faults` how many lists were refused.
fn assert_nothing_stands_in(folder: &Folder, code: &str, faults: usize) {
    let (exit, verdict) = folder.check(WITHOUT);
    assert_eq!((exit, text(&verdict, &["code"])), (1, code), "{verdict:?}");
    let Some(Json::Array(refused)) = verdict.get("refused_lists") else { panic!("{verdict:?}") };
    assert_eq!(refused.len(), faults, "{refused:?}");
}

#[test]
fn r4_a_compatible_list_never_stands_in_for_the_issuers_own() {
    for folder in [Folder::tenuo(), Folder::biscuit()] {
        write_compatible(&folder);
        let own = "keys = \"list-keys.json\"\nhead = \"head\"\nbodies = \"bodies\"\n";
        folder.write("trust.toml", with_compatible().replace(own, ""));
        assert_eq!(folder.code(WITHOUT), (0, "none".to_owned()), "alone they serve");
        folder.write("trust.toml", with_compatible());
        assert_eq!(folder.code(WITHOUT), (0, "none".to_owned()), "beside the issuer's own they harm nobody");

        // Signed by another key than the pinned one.
        let now = folder.world.now;
        folder.write("head", publish(ISSUER, 9, &Format::ALL, now, &[]).head_bytes().unwrap());
        assert_nothing_stands_in(&folder, "list_missing", 1);
        // Its own list speaks for other formats alone.
        let elsewhere = publish(ISSUER, LIST, &[Format::Pact], now, &[]);
        folder.write("head", elsewhere.head_bytes().unwrap());
        assert_nothing_stands_in(&folder, "list_not_covering", 0);
        // Its own list names the credential, and the compatible ones do not.
        folder.list(&folder.credential.entries);
        assert_nothing_stands_in(&folder, "revoked", 0);
    }
}

#[test]
fn r5_a_compatible_list_does_not_make_the_issuers_own_younger() {
    let mut folder = Folder::tenuo();
    folder.world.now = later(folder.world.now, 61);
    write_compatible(&folder);
    folder.write("trust.toml", with_compatible());
    folder.request("read_file", r#"{"cost":1}"#);
    assert_nothing_stands_in(&folder, "list_stale", 0);
}
