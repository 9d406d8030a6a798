import CTaskHooks
import Foundation
import Synchronization
import TestSupport

/// Runs tasks, queues, timers and the main actor on one thread, in an order that a seed decides.
///
/// Everything that could run at a moment is a choice: the next job of the main actor, the next work of a queue, any job of
/// the global executor, the next timer. Where a thread would wait for a disk, others are run meanwhile. So whatever order is
/// found to be wrong can be had again. Time is virtual: it passes a little with each step, and where only timers are left.
///
/// A call that blocks main, or waits for a second queue, runs the others itself until it may go on. So it is made only where
/// nothing waits that it could be waiting for: see ``mayBlock`` and `keepsPrivateQueuesApart`.
///
/// What it cannot show: two threads inside of the same function at once (that is for the thread sanitizer), and `Task.yield()`
/// and `Task.sleep`, which the runtime keeps to itself; nothing here calls them.
final class Simulation: Sendable {
    private let state: Mutex<State>
    /// The one that takes the jobs of tasks.
    private static let current = Mutex<Simulation?>(nil)

    /// - Parameter keepsPrivateQueuesApart: Whether no private context works in the middle of another one's work. Work that
    ///   takes a second queue finds it free then.
    init(seed: UInt64, keepsPrivateQueuesApart: Bool = false) {
        state = Mutex(
            State(random: SeededRandom(seed: seed), keepsPrivateQueuesApart: keepsPrivateQueuesApart))
    }

    enum Ending: Sendable {
        /// The work has ended, and so has everything that came of it.
        case complete
        /// Nothing is left to run, but the work has not ended: all wait for each other.
        case stuck
        /// There is always something to run, and no end of it.
        case endless
    }

    /// Runs the work in a task, and everything that comes of it.
    @MainActor
    func run(_ work: @escaping @Sendable () async -> Void) -> Ending {
        Simulation.current.withLock { $0 = self }
        let main = unsafeBitCast(SimulatedMain.shared.asUnownedSerialExecutor(), to: (UInt, UInt).self)
        task_hooks_install(Simulation.hook, main.0, main.1)
        defer {
            task_hooks_remove()
            Simulation.current.withLock { $0 = nil }
        }
        let isRunning = Flag()
        Task.detached {
            await work()
            isRunning.clear()
        }
        while step() {
            if stepCount > Simulation.stepLimit { return .endless }
        }
        return isRunning.isSet ? .stuck : .complete
    }

    private static let stepLimit = 300_000

    /// How many things were run.
    var stepCount: Int { state.withLock { $0.steps } }
    /// A number that two runs share only if the same things happened in the same order.
    var trace: UInt64 { state.withLock { $0.trace } }

    /// Takes something that has happened into the trace; with `STRESS_TRACE` in the environment it is printed.
    func note(_ text: @autoclosure () -> String) {
        let text = text()
        let steps = state.withLock { state in
            for byte in text.utf8 { state.mix(UInt64(byte)) }
            return state.steps
        }
        if Simulation.isPrinted { say("    \(steps): \(text)") }
    }

    private static let isPrinted = ProcessInfo.processInfo.environment["STRESS_TRACE"] != nil

    /// What waits, for a report.
    var summary: String { state.withLock { $0.description } }

    /// A number that follows from the seed, and from what was run before.
    func random(below bound: Int) -> Int { state.withLock { $0.random.next(below: bound) } }

    // MARK: Letting others run

    /// Runs some other things, as happens while a thread waits for a disk.
    ///
    /// - Parameter isLocked: Whether it waits with a lock held that private contexts take; then they are not run.
    func interleave(isLocked: Bool = false) {
        let count = state.withLock { state -> Int? in
            guard state.depth < 5 else { return nil }
            state.depth += 1
            if isLocked { state.lockCount += 1 }
            return [0, 0, 1, 2, 5][state.random.next(below: 5)]
        }
        guard let count else { return }
        for _ in 0..<count { if !step() { break } }
        state.withLock { state in
            state.depth -= 1
            if isLocked { state.lockCount -= 1 }
        }
    }

    /// Runs some other things, as happens while the code of an app takes its time; elsewhere than in a simulation nothing.
    static func interleave() {
        let simulation = current.withLock { $0 }
        simulation?.interleave()
    }

    /// Whether what runs now is the work of a private context.
    var isInPrivateContext: Bool {
        state.withLock { state in state.running.last?.map { state.queues[$0].isPrivate } ?? false }
    }

    /// Lets others run, as `Task.yield()` does, whose jobs do not come here.
    func pause() async {
        await withUnsafeContinuation { (continuation: UnsafeContinuation<Void, Never>) in
            state.withLock { $0.paused.append(continuation) }
        }
    }

    private func step() -> Bool {
        guard let choice = state.withLock({ $0.choose() }) else { return false }
        switch choice {
        case .main(let job):
            state.withLock { $0.running.append(nil) }
            job.runSynchronously(on: SimulatedMain.shared.asUnownedSerialExecutor())
            state.withLock { $0.isMainBusy = false }
        case .global(let job):
            state.withLock { $0.running.append(nil) }
            job.runSynchronously(on: Simulation.genericExecutor)
        case .paused(let continuation):
            state.withLock { $0.running.append(nil) }
            continuation.resume()
        case .queue(let queue, let work):
            state.withLock { $0.running.append(queue) }
            work()
            state.withLock { $0.queues[queue].isBusy = false }
        case .timer(let work):
            state.withLock { $0.running.append(nil) }
            work()
        }
        state.withLock { _ = $0.running.removeLast() }
        return true
    }

    /// The executor of code that has none.
    private static let genericExecutor = unsafeBitCast((0, 0) as (Int, Int), to: UnownedSerialExecutor.self)

    // MARK: What runs

    private static let hook: @Sendable @convention(c) (UnsafeMutableRawPointer?) -> Void = { take($0) }

    private static func take(_ job: UnsafeMutableRawPointer?) {
        guard let job, let simulation = current.withLock({ $0 }) else { return }
        let unowned = unsafeBitCast(job, to: UnownedJob.self)
        simulation.state.withLock { $0.global.append(unowned) }
    }

    static func takeMain(_ job: UnownedJob) {
        current.withLock { $0 }?.state.withLock { $0.main.append(job) }
    }

    static var isMainBusy: Bool { current.withLock { $0 }?.state.withLock { $0.isMainBusy } ?? false }

    func addQueue(isPrivate: Bool) -> Int {
        state.withLock { state in
            state.queues.append(Queue(isPrivate: isPrivate))
            return state.queues.count - 1
        }
    }

    func enqueue(_ work: @escaping @Sendable () -> Void, on queue: Int) {
        state.withLock { $0.queues[queue].waiting.append(work) }
    }

    /// Runs what waits in a queue, up to now, and then the work.
    func runAndWait<R>(on queue: Int, _ work: () throws -> R) rethrows -> R {
        let count = state.withLock { state in
            state.queues[queue].isBusy = true
            state.running.append(queue)
            return state.queues[queue].waiting.count
        }
        defer {
            state.withLock { state in
                state.running.removeLast()
                state.queues[queue].isBusy = false
            }
        }
        for _ in 0..<count {
            let next = state.withLock { $0.queues[queue].waiting.removeFirst() }
            next()
        }
        return try work()
    }

    /// Whether what runs now may block: nothing else has begun that could not go on meanwhile.
    var mayBlock: Bool { state.withLock { $0.running.count == 1 && $0.depth == 0 } }

    /// Runs others until the condition holds.
    func wait(until isDone: () -> Bool) {
        while !isDone() {
            guard stepCount <= Simulation.stepLimit, step() else {
                preconditionFailure("A blocked call waits for ever: \(summary)")
            }
        }
    }

    func isBusy(_ queue: Int) -> Bool { state.withLock { $0.queues[queue].isBusy } }

    func after(_ delay: Duration, _ work: @escaping @Sendable () -> Void) {
        state.withLock { $0.timers.append(($0.now + delay, work)) }
    }
}
