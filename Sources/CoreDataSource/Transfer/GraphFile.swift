internal import Foundation
internal import RowStore

/// A file with a graph, which is read in parts.
final class GraphFile {
    private let handle: FileHandle

    private init(_ url: URL) throws(DataSourceError) {
        do { handle = try FileHandle(forReadingFrom: url) } catch { throw GraphFile.unreadable(error) }
    }

    deinit { try? handle.close() }

    /// Reads the objects of a file on a separate thread, because a read can block its thread while another program writes the
    /// file.
    static func graph(_ url: URL) async throws -> ObjectGraph {
        let reading = Reading()
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                reading.begin(continuation)
                DispatchQueue.global().async {
                    reading.end(Result { try GraphFile(url).graph { reading.isOver } })
                }
            }
        } onCancel: {
            reading.end(.failure(CancellationError()))
        }
    }

    private func graph(_ isOver: () -> Bool) throws -> ObjectGraph {
        var records: [String: [[JSONName: JSONValue]]] = [:]
        var reader = JSONReader(next)
        try reader.forEachRecord { entity, index, record in
            if index & 0xFF == 0, isOver() { throw CancellationError() }
            records[entity, default: []].append(record)
        } list: {
            records[$0] = []
        }
        return ObjectGraph(records)
    }

    private func next() throws -> [UInt8] {
        do { return Array(try handle.read(upToCount: 1 << 16) ?? Data()) } catch { throw GraphFile.unreadable(error) }
    }

    private static func unreadable(_ error: any Error) -> DataSourceError {
        DataSourceError(
            .invalidGraph, "The file of a graph cannot be read. Check the path of the file and its permissions.",
            cause: "\(error)")
    }
}

/// The outcome of reading a file: either the result of the read, or the cancellation of the task. The first outcome counts.
private final class Reading: Sendable {
    private typealias Continuation = CheckedContinuation<ObjectGraph, any Error>

    private struct State {
        var continuation: Continuation?
        var result: Result<ObjectGraph, any Error>?
    }

    private let state = Guarded(State())

    var isOver: Bool { state.withLock { $0.result != nil } }

    func begin(_ continuation: CheckedContinuation<ObjectGraph, any Error>) {
        let result = state.withLock { state in
            if state.result == nil { state.continuation = continuation }
            return state.result
        }
        if let result { continuation.resume(with: result) }
    }

    func end(_ result: Result<ObjectGraph, any Error>) {
        let continuation = state.withLock { state in
            if state.result == nil { state.result = result }
            defer { state.continuation = nil }
            return state.continuation
        }
        continuation?.resume(with: result)
    }
}
