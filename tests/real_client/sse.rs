//! A model's message as the Messages API streams it. Takes a turn's parts, gives the whole body of the
//! response at once: no client minds that it all comes in one piece.

use std::fmt::Write as _;

use serde_json::{Value, json};

use crate::script::ToolCall;

/// A message of words.
pub(crate) fn text(id: usize, model: &str, text: &str) -> String {
    let block = json!({ "type": "text", "text": "" });
    let delta = json!({ "type": "text_delta", "text": text });
    message(id, model, &[(block, delta)], "end_turn")
}

/// A message of tool calls.
pub(crate) fn tool_calls(id: usize, model: &str, calls: &[ToolCall]) -> String {
    let blocks: Vec<_> = calls
        .iter()
        .enumerate()
        .map(|(index, call)| {
            let id = format!("toolu_{id:04}_{index}");
            let block = json!({ "type": "tool_use", "id": id, "name": call.name, "input": {} });
            let delta = json!({ "type": "input_json_delta", "partial_json": call.input.to_string() });
            (block, delta)
        })
        .collect();
    message(id, model, &blocks, "tool_use")
}

fn message(id: usize, model: &str, blocks: &[(Value, Value)], stop_reason: &str) -> String {
    let mut body = String::new();
    let mut event = |value: Value| {
        let name = value["type"].as_str().unwrap_or_default();
        // Writing to a string cannot fail.
        let _ = write!(body, "event: {name}\ndata: {value}\n\n");
    };
    event(json!({ "type": "message_start", "message": {
        "id": format!("msg_{id:04}"), "type": "message", "role": "assistant", "model": model, "content": [],
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
