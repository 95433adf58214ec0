//! A server that says what a test wants.

use std::{
    io::{BufRead, BufReader, Write},
    net::{TcpListener, TcpStream},
    sync::{Arc, Mutex},
    thread,
    time::Duration,
};

use super::now;

/// What it does when it is asked to judge.
#[derive(Clone, Debug)]
pub(super) enum Mood {
    /// Answers as our script would when all is well.
    Well,
    /// Says this, whatever is asked, the log-in included.
    Always(&'static [u8]),
    /// Says this where our script would answer.
    Says(&'static [u8]),
    /// Says this where our script would answer, and hangs up.
    Cuts(&'static [u8]),
    /// Says nothing more.
    Silent,
    /// Sends a byte now and then, for ever.
    Drips,
    /// Answers to the question before.
    Late,
    /// Answers, and goes on talking.
    Chatty,
}

pub(super) struct Fake {
    pub(super) port: u16,
    mood: Arc<Mutex<Mood>>,
}

impl Fake {
    pub(super) fn start(mood: Mood) -> Fake {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let fake = Fake { port: listener.local_addr().unwrap().port(), mood: Arc::new(Mutex::new(mood)) };
        let mood = Arc::clone(&fake.mood);
        thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let mood = Arc::clone(&mood);
                thread::spawn(move || serve(&stream, &mood));
            }
        });
        fake
    }

    pub(super) fn becomes(&self, mood: Mood) {
        *self.mood.lock().unwrap() = mood;
    }
}

fn serve(stream: &TcpStream, mood: &Mutex<Mood>) {
    let mut from = BufReader::new(stream);
    let mut to = stream;
    while let Some(command) = read(&mut from) {
        let mood = mood.lock().unwrap().clone();
        let judges = command[0] == b"EVALSHA";
        let said = match mood {
            Mood::Always(said) => said.to_vec(),
            Mood::Says(said) if judges => said.to_vec(),
            Mood::Cuts(said) if judges => {
                let _ = to.write_all(said);
                return;
            }
            Mood::Silent if judges => continue,
            Mood::Drips if judges => loop {
                if to.write_all(b"+").is_err() {
                    return;
                }
                thread::sleep(Duration::from_millis(10));
            },
            Mood::Late if judges => well(&command, 1),
            Mood::Chatty if judges => [well(&command, 0), b"+OK\r\n".to_vec()].concat(),
            _ if judges => well(&command, 0),
            _ if command[0] == b"SCRIPT" => [b"$40\r\n".as_slice(), &[b'a'; 40], b"\r\n"].concat(),
            _ => b"+OK\r\n".to_vec(),
        };
        if to.write_all(&said).is_err() {
            return;
        }
    }
}

/// The answer of an epoch that began a minute ago.
fn well(command: &[Vec<u8>], late: u64) -> Vec<u8> {
    let ticket: u64 = String::from_utf8(command[8].clone()).unwrap().parse().unwrap();
    let (ticket, since) = ((ticket - late).to_string(), now().wall.minus(60).seconds());
    let word = if command.len() > 20 { "recorded" } else { "looked" };
    let text = |text: &str| format!("${}\r\n{text}\r\n", text.len());
    format!("*7\r\n{}{}:{since}\r\n:1\r\n:0\r\n{}:1\r\n", text(&ticket), text(word), text("epoch"))
        .into_bytes()
}

fn read(from: &mut impl BufRead) -> Option<Vec<Vec<u8>>> {
    let count = number(from, '*')?;
    let mut parts = Vec::new();
    for _ in 0..count {
        let mut part = vec![0; number(from, '$')? + 2];
        from.read_exact(&mut part).ok()?;
        part.truncate(part.len() - 2);
        parts.push(part);
    }
    Some(parts)
}

fn number(from: &mut impl BufRead, kind: char) -> Option<usize> {
    let mut line = String::new();
    from.read_line(&mut line).ok()?;
    line.trim_end().strip_prefix(kind)?.parse().ok()
}
