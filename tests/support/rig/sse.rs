//! A model's message as the Messages API streams it. Takes the message, gives the whole body of the
//! response at once: no client minds that it all comes in one piece.

use std::fmt::Write as _;

use serde_json::{Value, json};

use super::message::Message;
use super::messages_api::call_id;

/// The body of the response to the request of that number.
pub(super) fn body(number: usize, model: &str, message: &Message) -> String {
    let words = message
        .text
        .iter()
        .map(|text| (json!({ "type": "text", "text": "" }), json!({ "type": "text_delta", "text": text })));
    let calls = message.calls.iter().enumerate().map(|(index, call)| {
        let id = call_id(number, index);
        let block = json!({ "type": "tool_use", "id": id, "name": call.name, "input": {} });
        let delta = json!({ "type": "input_json_delta", "partial_json": call.input.to_string() });
        (block, delta)
    });
    let blocks: Vec<_> = words.chain(calls).collect();
    let stop_reason = if message.calls.is_empty() { "end_turn" } else { "tool_use" };
    stream(number, model, &blocks, stop_reason)
}

fn stream(number: usize, model: &str, blocks: &[(Value, Value)], stop_reason: &str) -> String {
    let mut body = String::new();
    let mut event = |value: Value| {
        let name = value["type"].as_str().unwrap_or_default();
        // Writing to a string cannot fail.
        let _ = write!(body, "event: {name}\ndata: {value}\n\n");
    };
    event(json!({ "type": "message_start", "message": {
        "id": format!("msg_{number:04}"), "type": "message", "role": "assistant", "model": model, "content": [],
        "stop_reason": null, "stop_sequence": null, "usage": { "input_tokens": 10, "output_tokens": 1 },
    }}));
    for (index, (block, delta)) in blocks.iter().enumerate() {
        event(json!({ "type": "content_block_start", "index": index, "content_block": block }));
        event(json!({ "type": "content_block_delta", "index": index, "delta": delta }));
        event(json!({ "type": "content_block_stop", "index": index }));
    }
    event(json!({
        "type": "message_delta",
        "delta": { "stop_reason": stop_reason, "stop_sequence": null },
        "usage": { "output_tokens": 5 },
    }));
    event(json!({ "type": "message_stop" }));
    body
}
