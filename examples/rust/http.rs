//! HTTP requests as steps. The server is part of the example, so that it runs anywhere.
#![allow(clippy::print_stdout, reason = "an example shows its result")]

use rival::prelude::*;
use serde::{Deserialize, Serialize};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpListener;

#[derive(Serialize, Deserialize)]
struct Weather {
    rain: bool,
}

/// The request is made from what is known by then. It is not recorded; the answer is.
async fn forecast(Input(server): Input<String>) -> Result<Http, StepError> {
    Ok(Http::get(format!("{server}/weather")).query("city", "Lisbon"))
}

#[step]
async fn pack(last: LastStep) -> Result<String, StepError> {
    let weather: Weather = last.get::<HttpResponse>()?.json()?;
    Ok(if weather.rain { "an umbrella" } else { "a hat" }.into())
}

fn workflow() -> Result<Workflow<String, String>, rival::BuildErrors> {
    Workflow::new("packing").input::<String>().step(http_by(forecast).retry(3)).step(pack).build()
}

/// Answers every request with a forecast.
async fn weather_service() -> std::io::Result<String> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let address = listener.local_addr()?;
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let mut stream = BufReader::new(stream);
            let mut line = String::new();
            while stream.read_line(&mut line).await.is_ok_and(|bytes| bytes > 2) {}
            let body = r#"{"rain": true}"#;
            let head = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close";
            let answer = format!("{head}\r\ncontent-length: {}\r\n\r\n{body}", body.len());
            let _ = stream.write_all(answer.as_bytes()).await;
        }
    });
    Ok(format!("http://{address}"))
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let workflow = workflow()?;
    // Requests go to public addresses only, unless the engine is told otherwise.
    let outgoing = OutgoingPolicy::public().allow_loopback();
    let engine = Engine::builder().provide(outgoing).workflow(&workflow).build().await?;
    let run = engine.run(&workflow, weather_service().await?).await?;
    println!("take {}", run.output().await?);
    for step in run.state().await?.steps {
        println!("{}: {}", step.name, step.state.to_json()["description"].as_str().unwrap_or("-"));
    }
    Ok(())
}
