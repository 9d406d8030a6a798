import Dispatch
import RowStore

/// A value that several tasks of a test read and write.
final class Shared<Value: Sendable>: Sendable {
    private let state: Guarded<Value>

    init(_ value: Value) {
        state = Guarded(value)
    }

    var value: Value {
        get { state.withLock { $0 } }
        set { state.withLock { $0 = newValue } }
    }

    func update(_ body: (inout sending Value) -> Void) {
        state.withLock { body(&$0) }
    }
}

/// Holds a thread until the test opens it.
final class Gate: Sendable {
    private let semaphore = DispatchSemaphore(value: 0)
    private let isOpen = Shared(false)

    /// Blocks the thread. Not for a thread of the pool, which has two of them on a machine with two cores: what opens the gate may
    /// need one.
    func wait() { semaphore.wait() }

    /// Returns when the gate is open, and blocks no thread.
    func opened() async { while !isOpen.value { await Task.yield() } }

    func open() {
        isOpen.value = true
        semaphore.signal()
    }
}

/// Runs the body while the work of another task stands still where it calls its closure.
@MainActor @discardableResult
func hold<R: Sendable>(
    _ work: @escaping @Sendable (_ pause: @escaping @Sendable () -> Void) async throws -> Void,
    meanwhile body: () async throws -> R
) async throws -> R {
    let (isHeld, end) = (Gate(), Gate())
    let working = Task {
        defer { isHeld.open() }
        try await work {
            isHeld.open()
            end.wait()
        }
    }
    let result: R
    do {
        defer { end.open() }
        await isHeld.opened()
        result = try await body()
    }
    try await working.value
    return result
}

/// Blocks until the work is done. For work of another container in the middle of a batch.
func waitHere<R: Sendable>(_ work: @escaping @Sendable () async throws -> R) throws -> R {
    let done = DispatchSemaphore(value: 0)
    let result = Guarded<Result<R, any Error>?>(nil)
    Task.detached {
        do {
            let value = try await work()
            result.withLock { $0 = .success(value) }
        } catch {
            result.withLock { $0 = .failure(error) }
        }
        done.signal()
    }
    done.wait()
    guard let outcome = result.withLock({ $0 }) else { throw CancellationError() }
    return try outcome.get()
}

/// Tells one task that another task has reached a place.
struct Signal: Sendable {
    private let made = AsyncStream.makeStream(of: Void.self)

    func send() { made.continuation.finish() }
    func wait() async { for await _ in made.stream {} }
}
