use proptest::prelude::*;

use super::*;

/// Any item, to hold what was written against what is read.
#[derive(Clone, Debug, PartialEq)]
enum Item {
    Unsigned(u64),
    Integer(i64),
    Bytes(Vec<u8>),
    Text(String),
    Array(Vec<Item>),
    Map(Vec<(Item, Item)>),
    Bool(bool),
    Null,
    Float(u64),
}

impl Item {
    fn write(&self, writer: &mut Writer) {
        match self {
            Item::Unsigned(value) => writer.unsigned(*value),
            Item::Integer(value) => writer.integer(*value),
            Item::Bytes(value) => writer.bytes(value),
            Item::Text(value) => writer.text(value),
            Item::Array(items) => {
                writer.array(items.len());
                for item in items {
                    item.write(writer);
                }
            }
            Item::Map(entries) => {
                writer.map(entries.len());
                for (key, value) in entries {
                    key.write(writer);
                    value.write(writer);
                }
            }
            Item::Bool(value) => writer.bool(*value),
            Item::Null => writer.null(),
            Item::Float(bits) => writer.float(f64::from_bits(*bits)).unwrap(),
        }
    }

    fn read(reader: &mut Reader<'_>) -> Result<Item, CborError> {
        Ok(match reader.kind()? {
            Kind::Unsigned => Item::Unsigned(reader.unsigned()?),
            Kind::Negative => Item::Integer(reader.integer()?),
            Kind::Bytes => Item::Bytes(reader.bytes()?.to_vec()),
            Kind::Text => Item::Text(reader.text()?.to_owned()),
            Kind::Array => {
                Item::Array(reader.array(|reader, count| {
                    (0..count).map(|_| Item::read(reader)).collect::<Result<_, _>>()
                })?)
            }
            Kind::Map => Item::Map(reader.map(|reader, count| {
                (0..count).map(|_| Ok((Item::read(reader)?, Item::read(reader)?))).collect::<Result<_, _>>()
            })?),
            Kind::Bool => Item::Bool(reader.bool()?),
            Kind::Null => {
                reader.null()?;
                Item::Null
            }
            Kind::Float => Item::Float(reader.float()?.to_bits()),
        })
    }
}

fn written(item: &Item) -> Vec<u8> {
    let mut writer = Writer::new();
    item.write(&mut writer);
    writer.into_bytes()
}

fn read(bytes: &[u8]) -> Result<Item, CborError> {
    let mut reader = Reader::new(bytes);
    let item = Item::read(&mut reader)?;
    reader.finish()?;
    Ok(item)
}

fn hex(text: &str) -> Vec<u8> {
    text.as_bytes()
        .chunks(2)
        .map(|b| u8::from_str_radix(std::str::from_utf8(b).unwrap(), 16).unwrap())
        .collect()
}

fn fault(text: &str) -> CborFault {
    read(&hex(text)).unwrap_err().fault
}

fn text(value: &str) -> Item {
    Item::Text(value.to_owned())
}

fn list(values: std::ops::RangeInclusive<u64>) -> Item {
    Item::Array(values.map(Item::Unsigned).collect())
}

/// What no reader takes is not written: the text would be one that nobody can read.
#[test]
fn a_float_that_is_no_number_is_not_written() {
    for value in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        let mut writer = Writer::new();
        assert_eq!(writer.float(value), Err(CborFault::Forbidden));
        assert_eq!(writer.into_bytes(), Vec::<u8>::new());
    }
}

/// RFC 8949 appendix A, apart from the floats, which stand beside their code.
#[test]
fn the_examples_of_rfc_8949_appendix_a() {
    let one = Item::Unsigned(1);
    let cases = [
        ("00", Item::Unsigned(0)),
        ("01", one.clone()),
        ("0a", Item::Unsigned(10)),
        ("17", Item::Unsigned(23)),
        ("1818", Item::Unsigned(24)),
        ("1819", Item::Unsigned(25)),
        ("1864", Item::Unsigned(100)),
        ("1903e8", Item::Unsigned(1000)),
        ("1a000f4240", Item::Unsigned(1_000_000)),
        ("1b000000e8d4a51000", Item::Unsigned(1_000_000_000_000)),
        ("1bffffffffffffffff", Item::Unsigned(u64::MAX)),
        ("20", Item::Integer(-1)),
        ("29", Item::Integer(-10)),
        ("3863", Item::Integer(-100)),
        ("3903e7", Item::Integer(-1000)),
        ("f4", Item::Bool(false)),
        ("f5", Item::Bool(true)),
        ("f6", Item::Null),
        ("40", Item::Bytes(vec![])),
        ("4401020304", Item::Bytes(vec![1, 2, 3, 4])),
        ("60", text("")),
        ("6161", text("a")),
        ("6449455446", text("IETF")),
        ("62225c", text("\"\\")),
        ("62c3bc", text("\u{fc}")),
        ("63e6b0b4", text("\u{6c34}")),
        ("64f0908591", text("\u{10151}")),
        ("80", Item::Array(vec![])),
        ("83010203", list(1..=3)),
        ("8301820203820405", Item::Array(vec![one.clone(), list(2..=3), list(4..=5)])),
        ("98190102030405060708090a0b0c0d0e0f101112131415161718181819", list(1..=25)),
        ("a0", Item::Map(vec![])),
        (
            "a201020304",
            Item::Map(vec![(one.clone(), Item::Unsigned(2)), (Item::Unsigned(3), Item::Unsigned(4))]),
        ),
        ("a26161016162820203", Item::Map(vec![(text("a"), one), (text("b"), list(2..=3))])),
        ("826161a161626163", Item::Array(vec![text("a"), Item::Map(vec![(text("b"), text("c"))])])),
    ];
    for (bytes, item) in cases {
        assert_eq!(written(&item), hex(bytes), "{item:?}");
        assert_eq!(read(&hex(bytes)), Ok(item), "{bytes}");
    }
}

#[test]
fn what_appendix_a_has_and_we_never_accept() {
    let simple_and_floats =
        ["f7", "f0", "f818", "f8ff", "f97c00", "f97e00", "f9fc00", "fa7f800000", "fb7ff8000000000000"];
    let tags = [
        "c074323031332d30332d32315432303a30343a30305a",
        "c11a514b67b0",
        "d74401020304",
        "d818456449455446",
        "d82076687474703a2f2f",
        "c249010000000000000000",
        "c349010000000000000000",
    ];
    for bytes in simple_and_floats.into_iter().chain(tags) {
        assert_eq!(fault(bytes), CborFault::Forbidden, "{bytes}");
    }
    for indefinite in
        ["5f42010243030405ff", "7f657374726561646d696e67ff", "9fff", "9f0102ff", "bf61610161629f0203ffff"]
    {
        assert_eq!(fault(indefinite), CborFault::NotShortest, "{indefinite}");
    }
    assert_eq!(fault("ff"), CborFault::Forbidden);
    // −2^64 and other integers below i64.
    for below in ["3bffffffffffffffff", "3b8000000000000000"] {
        assert_eq!(fault(below), CborFault::OutOfRange, "{below}");
    }
    assert_eq!(read(&hex("3b7fffffffffffffff")), Ok(Item::Integer(i64::MIN)));
}

#[test]
fn reserved_lengths_are_refused_in_every_kind() {
    for major in 0_u8..=5 {
        for info in 28_u8..=30 {
            let bytes = [major << 5 | info, 0, 0, 0, 0, 0, 0, 0, 0];
            assert_eq!(read(&bytes).unwrap_err().fault, CborFault::Forbidden, "{major} {info}");
        }
        assert_eq!(read(&[major << 5 | 31, 0xff]).unwrap_err().fault, CborFault::NotShortest, "{major}");
    }
}

#[test]
fn longer_heads_than_needed_are_refused_in_every_kind() {
    for major in 0_u8..=5 {
        let heads: [&[u8]; 8] = [
            &[0x18, 0x00],
            &[0x18, 0x17],
            &[0x19, 0x00, 0x17],
            &[0x19, 0x00, 0xff],
            &[0x1a, 0x00, 0x00, 0x00, 0xff],
            &[0x1a, 0x00, 0x00, 0xff, 0xff],
            &[0x1b, 0, 0, 0, 0, 0, 0, 0, 1],
            &[0x1b, 0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff],
        ];
        for head in heads {
            let mut bytes = head.to_vec();
            bytes[0] |= major << 5;
            assert_eq!(
                read(&bytes).unwrap_err(),
                CborError { fault: CborFault::NotShortest, at: 0 },
                "{bytes:02x?}"
            );
        }
    }
    for float in ["fa3fc00000", "fb3ff8000000000000", "fb40f86a0000000000", "fa00000000"] {
        assert_eq!(fault(float), CborFault::NotShortest, "{float}");
    }
}

#[test]
fn text_is_utf_8() {
    for bytes in ["61ff", "62c328", "63eda080", "62c0a2", "61c3"] {
        assert_eq!(fault(bytes), CborFault::NotUtf8, "{bytes}");
    }
}

#[test]
fn an_announced_length_is_compared_with_what_is_there() {
    for bytes in [
        "",
        "18",
        "19ff",
        "1affffff",
        "41",
        "5affffffff",
        "5bffffffffffffffff",
        "7bffffffffffffffff",
        "81",
        "8201",
        "9bffffffffffffffff",
        "9affffffff00",
        "a1",
        "a101",
        "a20102",
        "bb7fffffffffffffff",
        "bbffffffffffffffff0000",
        "f9",
        "f900",
        "fa000000",
        "fb00000000000000",
    ] {
        assert_eq!(fault(bytes), CborFault::Truncated, "{bytes}");
    }
}

#[test]
fn more_bytes_after_the_item_are_refused() {
    assert_eq!(read(&hex("0000")), Err(CborError { fault: CborFault::Trailing, at: 1 }));
    assert_eq!(read(&hex("80f6")), Err(CborError { fault: CborFault::Trailing, at: 1 }));
}

#[test]
fn nesting_is_bounded_in_reading_and_stepping_over() {
    for (head, end) in [("81", "80"), ("a100", "a0"), ("a1", "a0")] {
        let nested = |depth: usize| {
            hex(&format!(
                "{}{}{}",
                head.repeat(depth - 1),
                end,
                if head == "a1" { "00".repeat(depth - 1) } else { String::new() }
            ))
        };
        assert!(Reader::new(&nested(MAX_CBOR_DEPTH)).skip().is_ok());
        assert_eq!(Reader::new(&nested(MAX_CBOR_DEPTH + 1)).skip().unwrap_err().fault, CborFault::TooDeep);
        assert_eq!(read(&nested(MAX_CBOR_DEPTH + 1)).unwrap_err().fault, CborFault::TooDeep);
    }
    assert_eq!(Reader::new(&vec![0x81; 1_000_000]).skip().unwrap_err().fault, CborFault::TooDeep);
}

#[test]
fn an_item_of_another_kind_is_refused_and_stays_unread() {
    let items = [
        ("00", 0),
        ("20", 1),
        ("40", 2),
        ("60", 3),
        ("80", 4),
        ("a0", 5),
        ("f4", 6),
        ("f6", 7),
        ("f90000", 8),
    ];
    for (bytes, kind) in items {
        let bytes = hex(bytes);
        let mut reader = Reader::new(&bytes);
        let results = [
            reader.clone().unsigned().map(|_| ()),
            reader.clone().integer().map(|_| ()),
            reader.clone().bytes().map(|_| ()),
            reader.clone().text().map(|_| ()),
            reader.clone().array(|_, _| Ok::<_, CborError>(())),
            reader.clone().map(|_, _| Ok::<_, CborError>(())),
            reader.clone().bool().map(|_| ()),
            reader.clone().null(),
            reader.clone().float().map(|_| ()),
        ];
        for (asked, result) in results.into_iter().enumerate() {
            // An integer may be of either sign.
            let fits = asked == kind || (asked == 1 && kind == 0);
            let unexpected = matches!(result, Err(CborError { fault: CborFault::Unexpected { .. }, at: 0 }));
            assert!(if fits { result.is_ok() } else { unexpected }, "{kind} read as {asked}: {result:?}");
        }
        let _ = reader.null();
        assert!(reader.position() == 0 || kind == 7);
    }
}

#[test]
fn numbers_are_never_truncated() {
    let narrow = |bytes: &str| Reader::new(&hex(bytes)).unsigned_as::<u8>();
    assert_eq!(narrow("18ff"), Ok(255));
    assert_eq!(narrow("190100").unwrap_err().fault, CborFault::OutOfRange);
    assert_eq!(narrow("1b0000000100000000").unwrap_err().fault, CborFault::OutOfRange);
    assert_eq!(Reader::new(&hex("1b8000000000000000")).integer().unwrap_err().fault, CborFault::OutOfRange);
    assert_eq!(Reader::new(&hex("1b7fffffffffffffff")).integer(), Ok(i64::MAX));
}

#[test]
fn lengths_are_exact_where_the_structure_fixes_them() {
    assert_eq!(Reader::new(&hex("43010203")).byte_array::<3>(), Ok(&[1, 2, 3]));
    assert_eq!(Reader::new(&hex("43010203")).byte_array::<4>().unwrap_err().fault, CborFault::OutOfRange);
    let pair = |bytes: &str| {
        Reader::new(&hex(bytes)).tuple(2, |r| Ok::<_, CborError>((r.unsigned()?, r.unsigned()?)))
    };
    assert_eq!(pair("820102"), Ok((1, 2)));
    for other in ["8101", "83010203", "80"] {
        assert!(matches!(pair(other).unwrap_err().fault, CborFault::Unexpected { .. }), "{other}");
    }
}

#[test]
fn the_bytes_of_an_item_can_be_had_back() {
    let bytes = hex("820163616263");
    let mut reader = Reader::new(&bytes);
    let inner = reader.tuple(2, |reader| {
        reader.skip()?;
        let start = reader.position();
        reader.skip()?;
        Ok::<_, CborError>(reader.since(start).to_vec())
    });
    assert_eq!(inner, Ok(hex("63616263")));
    assert_eq!(reader.finish(), Ok(()));
    let mut writer = Writer::after(vec![0x81]);
    writer.null();
    assert_eq!(writer.into_bytes(), [0x81, 0xf6]);
}

fn items() -> impl Strategy<Value = Item> {
    let leaf = prop_oneof![
        any::<u64>().prop_map(Item::Unsigned),
        (0_u64..70_000).prop_map(Item::Unsigned),
        (i64::MIN..0).prop_map(Item::Integer),
        prop::collection::vec(any::<u8>(), 0..300).prop_map(Item::Bytes),
        any::<String>().prop_map(Item::Text),
        any::<bool>().prop_map(Item::Bool),
        Just(Item::Null),
        any::<f64>()
            .prop_filter("finite", |value| value.is_finite())
            .prop_map(|value| Item::Float(value.to_bits())),
    ];
    leaf.prop_recursive(5, 60, 30, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..30).prop_map(Item::Array),
            prop::collection::vec((inner.clone(), inner), 0..15).prop_map(Item::Map),
        ]
    })
}

proptest! {
    #[test]
    fn what_was_written_is_read_back(item in items()) {
        let bytes = written(&item);
        prop_assert_eq!(read(&bytes).unwrap(), item);
        let mut reader = Reader::new(&bytes);
        reader.skip().unwrap();
        reader.finish().unwrap();
    }

    /// One content has one encoding: what is accepted is what the writer writes.
    #[test]
    fn what_is_read_is_written_back(bytes in prop::collection::vec(any::<u8>(), 0..24)) {
        if let Ok(item) = read(&bytes) {
            prop_assert_eq!(written(&item), bytes);
        }
    }

    #[test]
    fn a_changed_byte_never_gives_another_encoding(item in items(), at: prop::sample::Index, byte: u8) {
        let mut bytes = written(&item);
        let at = at.index(bytes.len());
        bytes[at] = byte;
        if let Ok(item) = read(&bytes) {
            prop_assert_eq!(written(&item), bytes);
        }
    }

    #[test]
    fn stepping_over_judges_like_reading(bytes in prop::collection::vec(any::<u8>(), 0..60)) {
        let mut reader = Reader::new(&bytes);
        let skipped = reader.skip().map(|()| reader.position());
        let mut reader = Reader::new(&bytes);
        let read = Item::read(&mut reader).map(|_| reader.position());
        let within_i64 = read.map_err(|error| error.fault) != Err(CborFault::OutOfRange);
        prop_assert!(skipped == read || !within_i64, "{:?} {:?}", skipped, read);
    }

    #[test]
    fn every_prefix_is_refused(item in items(), at: prop::sample::Index) {
        let bytes = written(&item);
        let cut = at.index(bytes.len());
        prop_assert_eq!(read(&bytes[..cut]).unwrap_err().fault, CborFault::Truncated);
    }
}
