//! One server in a process of its own, for `cargo ratios`: `hosted tools`, `hosted proxy TO VERIFICATIONS`,
//! `hosted sidecar CONFIG`. It says where it listens in one line, and ends when its standard input does.

use std::{
    env,
    io::{Write, stdout},
    net::SocketAddr,
    path::Path,
};

use pact_benches::{
    wire::{proxy, tools},
    world::Failure,
};
use pact_sidecar::{Config, Sidecar};
use tokio::{io::AsyncReadExt, net::TcpListener};

fn main() -> Result<(), Failure> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    // Both as the sidecar's own main does it.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(async {
        tokio::select! {
            ended = serve(&arguments) => ended,
            () = parent_ends() => Ok(()),
        }
    })
}

async fn serve(arguments: &[&str]) -> Result<(), Failure> {
    match arguments {
        ["tools"] => tools::serve(listen().await?).await,
        ["proxy", to, verifications] => {
            proxy::serve(listen().await?, to.parse()?, verifications.parse()?).await
        }
        ["sidecar", config] => {
            let sidecar = Sidecar::bind(Config::read(Path::new(config))?).await?;
            say(&[sidecar.traffic_address()?, sidecar.admin_address()?])?;
            sidecar.serve(std::future::pending()).await;
            Ok(())
        }
        _ => Err("hosted tools | hosted proxy TO VERIFICATIONS | hosted sidecar CONFIG".into()),
    }
}

async fn listen() -> Result<TcpListener, Failure> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    say(&[listener.local_addr()?])?;
    Ok(listener)
}

fn say(addresses: &[SocketAddr]) -> Result<(), Failure> {
    let addresses: Vec<String> = addresses.iter().map(SocketAddr::to_string).collect();
    Ok(writeln!(stdout(), "{}", addresses.join(" "))?)
}

async fn parent_ends() {
    let mut nothing = [0; 1];
    let _ = tokio::io::stdin().read(&mut nothing).await;
}
