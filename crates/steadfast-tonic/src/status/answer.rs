//! Which answers are failures by their head alone.

use std::error::Error;
use std::fmt;
use std::sync::Arc;

use http::{HeaderMap, StatusCode};
use steadfast_core::grpc::Code;
use steadfast_core::{BoxError, Failure, Report};
use tonic::Status;
use tonic::metadata::MetadataMap;

use super::error::wire;
use crate::http_status::{NotGrpc, code_of_http, is_grpc};

/// The status of an answer whose head ends the call: one that is no gRPC, or one that says no at
/// once and has a report, which would be lost.
pub(super) fn failure(
    status: StatusCode,
    headers: &HeaderMap,
    report: Option<Report>,
) -> Option<Status> {
    if !is_grpc(headers) {
        let cause = NotGrpc::new(status);
        let metadata = MetadataMap::from_headers(headers.clone());
        let code = wire(code_of_http(status));
        let found = Status::with_metadata(code, cause.to_string(), metadata);
        return Some(caused(found, report, cause.into()));
    }
    let report = report?;
    let code = Code::of(headers).filter(|code| *code != Code::Ok)?;
    let found = Status::from_header_map(headers)?;
    Some(caused(found, Some(report), Answered(code).into()))
}

fn caused(mut status: Status, report: Option<Report>, cause: BoxError) -> Status {
    let cause = match report {
        Some(report) => Box::new(Failure::new(report, cause)),
        None => cause,
    };
    status.set_source(Arc::from(cause));
    status
}

/// What stands below the report of a call whose last answer said no.
#[derive(Debug)]
struct Answered(Code);

impl fmt::Display for Answered {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the peer answered {}", self.0)
    }
}

impl Error for Answered {}
