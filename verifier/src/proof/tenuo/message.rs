//! The bytes under a Tenuo proof.

use pact_mandate::{Json, UnixTime, cbor::Writer, hex, json};

use super::TenuoProofFault;
use crate::format::tenuo::{self, Figure};

/// The contexts under which a warrant's key signs a proof.
const CONTEXT: &[u8] = b"tenuo-warrant-v1tenuo-pop-v1";

/// One of our own members.
pub(super) enum Member<'a> {
    Text(&'a str),
    Seconds(UnixTime),
}

/// A message up to its last part, the window.
pub(super) struct Unwindowed {
    bytes: Vec<u8>,
}

impl Unwindowed {
    /// `ours` in ascending order; they stand before every argument whose name does not begin with `@`, if it is not
    /// below `@` itself.
    pub(super) fn of(
        warrant_id: &[u8; 16],
        action: &str,
        arguments: &Json,
        ours: &[(&str, Member<'_>)],
    ) -> Result<Unwindowed, TenuoProofFault> {
        let arguments = sorted(arguments.members().ok_or(TenuoProofFault::NotAnObject)?);
        if let Some(argument) = arguments.iter().find(|argument| argument.name.starts_with('@')) {
            return Err(TenuoProofFault::ReservedArgument(argument.name.clone()));
        }
        let mut writer = Writer::after(CONTEXT.to_vec());
        writer.array(4);
        writer.text(&hex::encode(warrant_id));
        writer.text(action);
        writer.array(arguments.len() + ours.len());
        let (below, above) =
            arguments.split_at(arguments.partition_point(|argument| argument.name.as_str() < "@"));
        write_arguments(&mut writer, below)?;
        for (name, member) in ours {
            writer.array(2);
            writer.text(name);
            match member {
                Member::Text(text) => writer.text(text),
                Member::Seconds(time) => writer.unsigned(time.seconds()),
            }
        }
        write_arguments(&mut writer, above)?;
        Ok(Unwindowed { bytes: writer.into_bytes() })
    }

    /// The whole message, for the window that starts then.
    pub(super) fn in_window(&self, start: UnixTime) -> Vec<u8> {
        let mut writer = Writer::after(self.bytes.clone());
        writer.unsigned(start.seconds());
        writer.into_bytes()
    }
}

fn sorted(members: &[json::Member]) -> Vec<&json::Member> {
    let mut sorted: Vec<&json::Member> = members.iter().collect();
    sorted.sort_unstable_by(|a, b| a.name.cmp(&b.name));
    sorted
}

fn write_arguments(writer: &mut Writer, arguments: &[&json::Member]) -> Result<(), TenuoProofFault> {
    for argument in arguments {
        writer.array(2);
        writer.text(&argument.name);
        write(writer, &argument.value)
            .map_err(|tenuo::InexactNumber| TenuoProofFault::InexactNumber(argument.name.clone()))?;
    }
    Ok(())
}

fn write(writer: &mut Writer, value: &Json) -> Result<(), tenuo::InexactNumber> {
    match value {
        Json::Null => writer.null(),
        Json::Bool(truth) => writer.bool(*truth),
        Json::String(text) => writer.text(text),
        Json::Number(number) => match Figure::of(number)? {
            Figure::Integer(integer) => writer.integer(integer),
            Figure::Float(float) => writer.float(float).map_err(|_| tenuo::InexactNumber)?,
        },
        Json::Array(items) => {
            writer.array(items.len());
            items.iter().try_for_each(|item| write(writer, item))?;
        }
        Json::Object(members) => {
            writer.map(members.len());
            for member in sorted(members) {
                writer.text(&member.name);
                write(writer, &member.value)?;
            }
        }
    }
    Ok(())
}
