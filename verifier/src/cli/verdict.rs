//! The answer: as JSON for machines, in words for people.

use std::fmt::Write;

use pact_mandate::Now;
use pact_verifier::{Refusal, VerifiedChain, live::AskedList, refusal::Class};
use serde::{Serialize, Serializer};

use super::{Unjudged, inputs::SingleUse};

/// What was decided, with every fact that the decision rests on.
#[derive(Serialize)]
pub(crate) struct Verdict {
    decision: Decision,
    code: Option<&'static str>,
    reason: Option<String>,
    /// The rule of the trust protocol that was broken.
    rule: Option<&'static str>,
    /// The rung of the ladder that refused.
    rung: Option<u8>,
    /// The link or block at fault, the root being 0.
    link: Option<usize>,
    class: Option<&'static str>,
    pub(crate) credential: Option<Credential>,
    pub(crate) list: Option<List>,
    pub(crate) single_use: SingleUse,
    judged_at: String,
    /// Lists that lay there and were refused.
    refused_lists: Vec<String>,
    #[serde(skip)]
    steps: Vec<(u8, String)>,
}

#[derive(Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Decision {
    Permit,
    Refuse,
    NotJudged,
}

/// A credential whose chain was verified.
#[derive(Serialize)]
pub(crate) struct Credential {
    format: &'static str,
    issuer: String,
    root_key: String,
    ids: Vec<String>,
    holder: Option<String>,
    source: Option<String>,
    expires_at: String,
}

/// The list that was asked.
#[derive(Serialize)]
pub(crate) struct List {
    version: u64,
    age_seconds: u64,
}

impl Verdict {
    pub(crate) fn at(now: Now, single_use: SingleUse, refused_lists: Vec<String>) -> Verdict {
        Verdict {
            decision: Decision::NotJudged,
            code: None,
            reason: None,
            rule: None,
            rung: None,
            link: None,
            class: None,
            credential: None,
            list: None,
            single_use,
            judged_at: now.wall.rfc3339(),
            refused_lists,
            steps: Vec::new(),
        }
    }

    /// Something that was needed could not be read.
    pub(crate) fn unjudged(unjudged: &Unjudged, now: Now) -> Verdict {
        let mut verdict = Verdict::at(now, SingleUse::Unjudged, Vec::new());
        verdict.settle(Decision::NotJudged, "input_unusable", unjudged.to_string());
        verdict
    }

    /// Every rung was climbed.
    pub(crate) fn permit(&mut self) {
        if self.single_use == SingleUse::Unjudged {
            let reason = "single use of proofs needs a folder that outlives this run: give --state DIR, or \
                          --without-replay to leave it out";
            self.settle(Decision::NotJudged, "single_use_not_judged", reason.to_owned());
        } else {
            self.decision = Decision::Permit;
        }
    }

    pub(crate) fn refuse(&mut self, refusal: &Refusal) {
        self.settle(Decision::Refuse, refusal.code(), refusal.to_string());
        self.rule = Some(refusal.rule());
        self.rung = Some(refusal.rung());
        self.link = refusal.link();
        self.class = Some(class_name(refusal.class()));
        let (code, rule) = (refusal.code(), refusal.rule());
        self.steps.push((refusal.rung(), format!("REFUSED: {refusal} [{code}, rule {rule}]")));
    }

    fn settle(&mut self, decision: Decision, code: &'static str, reason: String) {
        self.decision = decision;
        self.code = Some(code);
        self.reason = Some(reason);
    }

    pub(crate) fn step(&mut self, rung: u8, found: String) {
        self.steps.push((rung, found));
    }

    pub(crate) fn exit_code(&self) -> u8 {
        match self.decision {
            Decision::Permit => 0,
            Decision::Refuse => 1,
            Decision::NotJudged => 2,
        }
    }

    pub(crate) fn as_json(&self) -> String {
        // Texts and numbers into a string: this cannot fail.
        serde_json::to_string_pretty(self).unwrap_or_default()
    }

    pub(crate) fn in_words(&self) -> String {
        const NAMES: [&str; 5] = ["presented", "verified", "held", "live", "permit"];
        let mut text = String::new();
        for (rung, found) in &self.steps {
            let name = NAMES.get(usize::from(*rung)).copied().unwrap_or_default();
            let _ = writeln!(text, "rung {rung}  {name:9}  {found}");
        }
        for refused in &self.refused_lists {
            let _ = writeln!(text, "a list was refused: {refused}");
        }
        match self.decision {
            Decision::Permit => text.push_str("verdict: permit"),
            Decision::Refuse => text.push_str("verdict: refuse"),
            Decision::NotJudged => {
                let (reason, code) = (self.reason.as_deref(), self.code);
                let _ = write!(
                    text,
                    "verdict: not judged: {} [{}]",
                    reason.unwrap_or_default(),
                    code.unwrap_or_default()
                );
            }
        }
        text
    }
}

impl Serialize for SingleUse {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(match self {
            SingleUse::Recorded => "judged",
            SingleUse::LeftOut => "left_out_by_without_replay",
            SingleUse::Unjudged => "not_judged",
        })
    }
}

impl Credential {
    pub(crate) fn of(chain: &VerifiedChain) -> Credential {
        Credential {
            format: chain.format().name(),
            issuer: chain.issuer().to_string(),
            root_key: chain.root().to_string(),
            ids: chain.ids().to_vec(),
            holder: chain.holder().map(|key| key.thumbprint().to_string()),
            source: chain.source().map(ToString::to_string),
            expires_at: chain.expires_at().rfc3339(),
        }
    }
}

impl List {
    pub(crate) fn of(asked: AskedList) -> List {
        List { version: asked.version.get(), age_seconds: asked.age.as_secs() }
    }
}

fn class_name(class: Class) -> &'static str {
    match class {
        Class::Malformed => "malformed",
        Class::Unauthenticated => "unauthenticated",
        Class::Forbidden => "forbidden",
        Class::TooMany => "too_many",
        Class::Unavailable => "unavailable",
    }
}
