//! What is shown while the story plays: one line a step, with what was expected and what happened.

use std::io::{self, Write};

use serde_json::json;

use crate::mcp::Answer;

/// Writes the steps and counts those that went otherwise.
#[derive(Debug)]
pub struct Report<W> {
    out: W,
    form: Form,
    steps: usize,
    wrong: usize,
}

/// How steps are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// For people.
    Text,
    /// One JSON object a line.
    Json,
}

/// What should happen to a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expected<'a> {
    /// The tool answers with this text.
    Allowed(&'a str),
    /// It is refused with this code, before the tool sees it.
    Refused(&'a str),
}

impl<W: Write> Report<W> {
    /// A report on that output.
    pub fn new(out: W, form: Form) -> Report<W> {
        Report { out, form, steps: 0, wrong: 0 }
    }

    /// The title of what follows.
    pub fn heading(&mut self, title: &str) -> io::Result<()> {
        match self.form {
            Form::Text => writeln!(self.out, "\n{title}"),
            Form::Json => writeln!(self.out, "{}", json!({ "heading": title })),
        }
    }

    /// A remark that is no step.
    pub fn note(&mut self, text: &str) -> io::Result<()> {
        match self.form {
            Form::Text => writeln!(self.out, "        {text}"),
            Form::Json => writeln!(self.out, "{}", json!({ "note": text })),
        }
    }

    /// A call and its answer.
    pub fn call(&mut self, what: &str, expected: Expected<'_>, answer: &Answer) -> io::Result<()> {
        let right = match expected {
            Expected::Allowed(text) => answer.text() == Some(text),
            Expected::Refused(code) => answer.reason() == Some(code) && answer.text().is_none(),
        };
        let happened = match (answer.text(), answer.reason()) {
            (Some(text), _) => format!("allowed, the tool says \"{text}\""),
            (None, Some(reason)) => format!("refused {reason} (HTTP {})", answer.status.as_u16()),
            (None, None) => format!("HTTP {}: {}", answer.status.as_u16(), answer.body),
        };
        let expected = match expected {
            Expected::Allowed(_) => "allowed".to_owned(),
            Expected::Refused(code) => format!("refused {code}"),
        };
        self.step(what, &expected, &happened, right)
    }

    /// Any other step.
    pub fn step(&mut self, what: &str, expected: &str, happened: &str, right: bool) -> io::Result<()> {
        self.steps += 1;
        self.wrong += usize::from(!right);
        match self.form {
            Form::Text => {
                let mark = if right { "ok   " } else { "WRONG" };
                writeln!(
                    self.out,
                    "{mark} {:2} {what}: expected {expected}; happened: {happened}",
                    self.steps
                )
            }
            Form::Json => {
                let step = json!({"step": self.steps, "what": what, "expected": expected, "happened": happened, "ok": right});
                writeln!(self.out, "{step}")
            }
        }
    }

    /// The last line. Whether every step went as expected.
    pub fn finish(&mut self) -> io::Result<bool> {
        let right = self.steps - self.wrong;
        match self.form {
            Form::Text => {
                writeln!(self.out, "\n{} steps: {right} as expected, {} otherwise", self.steps, self.wrong)?;
            }
            Form::Json => {
                writeln!(self.out, "{}", json!({"steps": self.steps, "ok": right, "wrong": self.wrong}))?;
            }
        }
        self.out.flush()?;
        Ok(self.wrong == 0 && self.steps > 0)
    }
}

#[cfg(test)]
mod tests {
    use http::StatusCode;
    use serde_json::Value;

    use super::*;

    fn answer(status: StatusCode, body: Value) -> Answer {
        Answer { status, body }
    }

    #[test]
    fn a_step_is_right_only_when_it_went_as_expected() {
        let allowed =
            answer(StatusCode::OK, json!({"result": {"content": [{"type": "text", "text": "done"}]}}));
        let refused = answer(StatusCode::FORBIDDEN, json!({"error": {"data": {"reason": "replayed"}}}));
        let play = |expected, answer: &Answer| {
            let mut report = Report::new(Vec::new(), Form::Text);
            report.call("a call", expected, answer).unwrap();
            report.finish().unwrap()
        };
        assert!(play(Expected::Allowed("done"), &allowed));
        assert!(play(Expected::Refused("replayed"), &refused));
        assert!(!play(Expected::Allowed("other"), &allowed));
        assert!(!play(Expected::Allowed("done"), &refused));
        assert!(!play(Expected::Refused("replayed"), &allowed));
        assert!(!play(Expected::Refused("expired"), &refused));
        assert!(!play(Expected::Refused("replayed"), &answer(StatusCode::OK, Value::Null)));
    }

    #[test]
    fn a_report_without_steps_is_no_success() {
        assert!(!Report::new(Vec::new(), Form::Json).finish().unwrap());
    }
}
