//! The laws of receipts: what was written is read, and whatever else is told.

use std::io::Cursor;

use pact_mandate::{
    SecretKey, Signer,
    chainlog::{self, ChainLog, LineHash, LogId},
    jwks::KeySet,
};
use proptest::prelude::*;

use super::*;

fn key() -> SecretKey {
    SecretKey::from_seed(&[7; 32]).unwrap()
}

fn keys() -> KeySet {
    KeySet::new(vec![(key().key_id().clone(), *key().public_key())]).unwrap()
}

fn at(seconds: u64) -> UnixTime {
    UnixTime::try_from(1_800_000_000 + seconds).unwrap()
}

fn permit() -> Receipt {
    Receipt {
        act: None,
        action: Some("task.read".parse().unwrap()),
        at: at(1),
        call: Some(Hex([1; 32])),
        code: None,
        credential: Some(Credential {
            format: Format::Tenuo,
            holder: Some(key().key_id().clone()),
            ids: vec!["tnu_wrt_22".to_owned()],
            issuer: "acme".parse().unwrap(),
            root: key().key_id().clone(),
            source: None,
        }),
        decision: Decision::Permit,
        left_out: None,
        list: Some(ListAsked { age: 3, version: 2 }),
        policy: Hex([2; 32]),
        proof: Some(ProofMark::Fresh),
        request: Hex([3; 16]),
        trace: None,
        trust: Hex([4; 32]),
        typ: <_>::default(),
        unverified_credential: None,
    }
}

fn refusal(code: &str) -> Receipt {
    let unverified = Unverified { bytes: 9, format: Format::Biscuit, sha256: Hex([5; 8]) };
    Receipt {
        act: None,
        action: None,
        call: None,
        code: Some(code.to_owned().try_into().unwrap()),
        credential: None,
        decision: Decision::Refuse,
        left_out: Some(4),
        list: None,
        proof: None,
        unverified_credential: Some(unverified),
        ..permit()
    }
}

/// A log that writes into files.
struct Desk {
    log: ChainLog,
    files: Vec<Vec<u8>>,
}

impl Desk {
    fn begin(log: u8) -> Desk {
        let mut desk = Desk { log: ChainLog::begin(LogId::from_random([log; 16])), files: vec![Vec::new()] };
        desk.opened(None);
        desk
    }

    fn put(&mut self, entry: &chainlog::Entry) {
        let line = self.log.entry(entry).unwrap();
        self.log.written(&line);
        self.files.last_mut().unwrap().extend_from_slice(line.bytes());
    }

    fn opened(&mut self, after: Option<After>) {
        let file = Some(u64::try_from(self.files.len()).unwrap());
        self.put(&chainlog::Entry::new(&Opened { after, at: at(0), file, typ: <_>::default() }).unwrap());
    }

    fn receipt(&mut self, receipt: &Receipt) {
        self.put(&chainlog::Entry::of_sorted(receipt).unwrap());
    }

    fn seal(&mut self) {
        let line = self.log.checkpoint(at(2), &key()).unwrap();
        self.log.written(&line);
        self.files.last_mut().unwrap().extend_from_slice(line.bytes());
    }

    fn after(&self, torn: Option<u64>) -> After {
        After { file: u64::try_from(self.files.len()).unwrap(), last: self.log.last(), torn }
    }

    /// Goes on in another file.
    fn turn(&mut self) {
        self.seal();
        let after = Some(self.after(None));
        self.files.push(Vec::new());
        self.opened(after);
    }

    /// Is killed in the middle of a line, and begins anew in another file.
    fn killed(&mut self, log: u8, torn: &[u8]) {
        self.files.last_mut().unwrap().extend_from_slice(torn);
        let torn = u64::try_from(torn.len()).unwrap();
        let after = Some(self.after((torn > 0).then_some(torn)));
        self.log = ChainLog::begin(LogId::from_random([log; 16]));
        self.files.push(Vec::new());
        self.opened(after);
    }
}

fn read_by(files: &[Vec<u8>], keys: Keys<'_>) -> Result<Tally, ReceiptFault> {
    let mut reader = ReceiptReader::new(keys);
    for file in files {
        reader.file();
        let mut lines = Lines::new(Cursor::new(file));
        loop {
            match lines.next().unwrap() {
                Line::Whole(line) => reader.line(line)?,
                Line::Torn(bytes) => reader.torn(bytes),
                Line::End => break,
            }
        }
    }
    Ok(reader.tally().clone())
}

fn read(files: &[Vec<u8>]) -> Result<Tally, ReceiptFault> {
    read_by(files, Keys::Known(&keys()))
}

fn why(files: &[Vec<u8>]) -> WhyNoReceipt {
    read(files).unwrap_err().why
}

/// Three files: a rotation, a kill, and lines that nobody has sealed.
fn story() -> Desk {
    let mut desk = Desk::begin(1);
    desk.receipt(&permit());
    desk.receipt(&refusal("batch"));
    desk.turn();
    desk.receipt(&refusal("batch"));
    desk.killed(2, b"{\"entry\":{\"at");
    desk.receipt(&permit());
    desk
}

#[test]
fn m7_a_log_over_several_files_is_read_and_counted() {
    let tally = read(&story().files).unwrap();
    assert_eq!((tally.files, tally.logs, tally.lines, tally.checkpoints), (3, 2, 8, 1));
    assert_eq!((tally.permitted, tally.refused, tally.left_out), (2, 2, 8));
    assert_eq!(tally.codes.get("batch"), Some(&2));
    assert_eq!((tally.unsealed, tally.unsealed_before, tally.killed), (2, 2, 1));
    assert_eq!((tally.sealed_at, tally.missing_before), (Some(at(2)), None));
    assert!(tally.keys.contains(key().key_id()));
}

#[test]
fn m7_without_a_key_nothing_is_sealed_and_the_key_is_not_believed() {
    let tally = read_by(&story().files, Keys::Unknown).unwrap();
    assert_eq!((tally.sealed_at, tally.checkpoints, tally.keys.len()), (None, 1, 0));
    assert!(tally.unverified_keys.contains(key().key_id()));
    assert_eq!(tally.unsealed + tally.unsealed_before, tally.lines);
}

#[test]
fn k1_a_log_that_another_key_signed_does_not_hold() {
    let other = SecretKey::from_seed(&[8; 32]).unwrap();
    let others = KeySet::new(vec![(other.key_id().clone(), *other.public_key())]).unwrap();
    assert!(read_by(&story().files, Keys::Known(&others)).is_err());
}

#[test]
fn m7_a_later_file_says_what_is_missing_before_it() {
    let tally = read(&story().files[1..]).unwrap();
    assert_eq!(tally.missing_before, Some(1));
}

#[test]
fn m7_a_file_that_is_missing_in_between_is_told() {
    let files = story().files;
    let fault = read(&[files[0].clone(), files[2].clone()]).unwrap_err();
    assert_eq!(fault, ReceiptFault { line: 1, why: WhyNoReceipt::NotAfter { file: 2 } });
    let mut exchanged = files.clone();
    exchanged.swap(1, 2);
    assert!(read(&exchanged).is_err());
}

#[test]
fn m7_a_line_cut_from_the_end_of_a_file_is_told_by_the_next() {
    let mut files = story().files;
    let torn = files[1].iter().rposition(|byte| *byte == b'\n').unwrap();
    let cut = files[1][..torn].iter().rposition(|byte| *byte == b'\n').unwrap();
    files[1].truncate(cut + 1);
    assert_eq!(why(&files), WhyNoReceipt::NotAfter { file: 2 });
}

#[test]
fn m7_an_unfinished_line_is_where_the_next_file_says_that_it_is() {
    let mut files = story().files;
    assert_eq!(read(&files[..2]).unwrap().torn, 13);
    files[1].pop();
    assert_eq!(why(&files), WhyNoReceipt::Torn { found: 12, told: 13 });
}

#[test]
fn m7_a_log_that_says_nothing_came_before_it_follows_nothing() {
    let files = [Desk::begin(1).files.remove(0), Desk::begin(2).files.remove(0)];
    assert_eq!(why(&files), WhyNoReceipt::FollowsNothing);
}

#[test]
fn m7_standard_output_knows_of_no_run_before() {
    let mut both = Vec::new();
    for log in 1..=2 {
        let mut desk = Desk { log: ChainLog::begin(LogId::from_random([log; 16])), files: vec![Vec::new()] };
        let opened = Opened { after: None, at: at(0), file: None, typ: <_>::default() };
        desk.put(&chainlog::Entry::new(&opened).unwrap());
        desk.put(&chainlog::Entry::new(&Closed { at: at(9), left_out: 3, typ: <_>::default() }).unwrap());
        desk.seal();
        both.extend(desk.files.remove(0));
    }
    let tally = read(&[both]).unwrap();
    assert_eq!((tally.logs, tally.killed, tally.unsealed, tally.left_out), (2, 0, 0, 6));
    assert!(tally.closed);
    assert_eq!(
        tally.clock_set_back, 3,
        "each checkpoint here is older than the line before it, and so is the second run"
    );
}

#[test]
fn m7_a_file_without_a_first_word_is_none() {
    let mut desk = Desk { log: ChainLog::begin(LogId::from_random([1; 16])), files: vec![Vec::new()] };
    desk.receipt(&permit());
    assert_eq!(why(&desk.files), WhyNoReceipt::NotOpened);
    let mut desk = Desk::begin(1);
    desk.opened(None);
    assert_eq!(why(&desk.files), WhyNoReceipt::OpenedAgain);
}

#[test]
fn m6_members_that_do_not_go_together_are_refused() {
    let wrong = [
        Receipt { code: refusal("x").code, ..permit() },
        Receipt { credential: None, ..permit() },
        Receipt { list: None, ..permit() },
        Receipt { proof: Some(ProofMark::None), ..permit() },
        Receipt { proof: None, ..permit() },
        Receipt { left_out: Some(1), ..permit() },
        Receipt { unverified_credential: refusal("x").unverified_credential, ..permit() },
        Receipt { code: None, ..refusal("x") },
        Receipt { call: permit().call, ..refusal("x") },
        Receipt { proof: Some(ProofMark::Fresh), ..refusal("x") },
    ];
    for receipt in wrong {
        assert!(!receipt.is_consistent(), "{receipt:?}");
        let mut desk = Desk::begin(1);
        desk.receipt(&receipt);
        assert_eq!(why(&desk.files), WhyNoReceipt::Inconsistent);
    }
    assert!(permit().is_consistent() && refusal("x").is_consistent());
}

#[test]
fn c1_codes_are_bounded_in_form_and_number() {
    for bad in ["", "A", "a b", "é", &"a".repeat(65)] {
        assert_eq!(Code::try_from(bad.to_owned()), Err(NotACode));
    }
    let mut desk = Desk::begin(1);
    for number in 0..=crate::limits::MAX_RECEIPT_CODES {
        desk.receipt(&refusal(&format!("code_{number}")));
    }
    assert_eq!(why(&desk.files), WhyNoReceipt::TooManyCodes);
}

#[test]
fn c1_a_line_without_an_end_is_cut_and_refused() {
    let file = vec![b'x'; 3 * pact_mandate::limits::MAX_LOG_LINE_BYTES];
    assert!(matches!(why(&[file]), WhyNoReceipt::Chain(chainlog::WhyBroken::TooLong)));
}

#[test]
fn an_empty_file_follows_and_is_followed() {
    let mut desk = Desk::begin(1);
    desk.seal();
    desk.files.push(Vec::new());
    desk.log = ChainLog::begin(LogId::from_random([2; 16]));
    let after = Some(After { file: 2, last: LineHash::START, torn: None });
    desk.files.push(Vec::new());
    desk.opened(after);
    assert_eq!(read(&desk.files).unwrap().logs, 2);
}

#[test]
fn an_act_has_no_call_and_a_call_no_act() {
    let act = Some(ActName::Close);
    let acted = Receipt { act, action: None, call: None, ..permit() };
    assert!(acted.is_consistent());
    for receipt in [
        Receipt { act, ..permit() },
        Receipt { act: None, ..acted.clone() },
        Receipt { call: permit().call, ..acted.clone() },
        Receipt { act, ..refusal("x") },
    ] {
        assert!(!receipt.is_consistent(), "{receipt:?}");
    }
    let mut tally = Tally::default();
    tally.count(&Entry::Receipt(Box::new(acted))).unwrap();
    assert_eq!((tally.acts, tally.permitted), (1, 0));
}

#[test]
fn m7_a_last_checkpoint_without_its_newline_is_torn_and_seals_nothing() {
    let mut desk = story();
    desk.seal();
    let whole = read(&desk.files).unwrap();
    assert_eq!((whole.torn, whole.unsealed), (0, 0));
    *desk.files.last_mut().unwrap().last_mut().unwrap() ^= 1;
    let cut = read(&desk.files).unwrap();
    assert!(cut.torn > 0 && cut.unsealed > 0 && cut.checkpoints + 1 == whole.checkpoints, "{cut:?}");
    assert!(is_told(&desk.files, &whole));
}

fn receipts() -> impl Strategy<Value = Receipt> {
    let text = "[ -~é\u{2028}\u{10ffff}]{1,12}";
    let credential =
        (proptest::collection::vec(text, 0..3), any::<bool>()).prop_map(|(ids, full)| Credential {
            format: if full { Format::Tenuo } else { Format::Biscuit },
            holder: full.then(|| key().key_id().clone()),
            ids,
            source: full.then(|| "other".parse().unwrap()),
            ..permit().credential.unwrap()
        });
    let action = prop_oneof![Just("task.read"), Just("a\"b\\c/é"), Just("\u{10ffff}")];
    let numbers = (0..1_u64 << 53, 0..1_u64 << 53, any::<[u8; 16]>());
    (proptest::option::of(credential), proptest::option::of(action), numbers, any::<bool>()).prop_map(
        |(credential, action, (age, version, request), more)| Receipt {
            act: more.then_some(ActName::Respond),
            action: action.map(|action| action.parse().unwrap()),
            credential,
            left_out: more.then_some(age),
            list: more.then_some(ListAsked { age, version }),
            request: Hex(request),
            trace: more.then_some(Hex(request)),
            unverified_credential: more.then_some(Unverified {
                bytes: age,
                format: Format::Biscuit,
                sha256: Hex([5; 8]),
            }),
            ..if more { permit() } else { refusal("x") }
        },
    )
}

/// Whether whoever reads `files` learns that they are not the sealed ones that gave `whole`: by a fault, or because
/// the last line ends in no newline and its checkpoint is not counted.
fn is_told(files: &[Vec<u8>], whole: &Tally) -> bool {
    read(files).map_or(true, |tally| tally.torn > 0 && tally.checkpoints < whole.checkpoints)
}

proptest! {
    /// What [`chainlog::Entry::of_sorted`] asks for.
    #[test]
    fn m7_a_receipt_is_written_in_its_canonical_form(receipt in receipts()) {
        let fast = chainlog::Entry::of_sorted(&receipt).unwrap();
        let canonical = chainlog::Entry::new(&receipt).unwrap();
        prop_assert_eq!(fast.as_bytes(), canonical.as_bytes());
        let entry = pact_mandate::canonical::from_bytes::<Entry>(fast.as_bytes()).unwrap();
        prop_assert_eq!(entry, Entry::Receipt(Box::new(receipt)));
    }

    /// One byte changed anywhere up to the end of the last checkpoint is told. (Behind it nobody signed.)
    #[test]
    fn m7_any_changed_byte_that_was_sealed_is_told(
        file: prop::sample::Index,
        byte: prop::sample::Index,
        mask in 1..=255u8,
    ) {
        let mut desk = story();
        desk.seal();
        let (whole, mut files) = (read(&desk.files).unwrap(), desk.files);
        let file = file.index(files.len());
        let byte = byte.index(files[file].len());
        files[file][byte] ^= mask;
        // What is torn is nobody's word, but its length is.
        let in_torn = file == 1 && byte + 13 >= files[1].len();
        prop_assert!(in_torn || is_told(&files, &whole));
    }

    #[test]
    fn m7_any_bytes_are_answered(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
        let _ = read(&[bytes]);
    }
}
