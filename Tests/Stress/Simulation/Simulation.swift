import CTaskHooks
import CoreDataSource
import Foundation
import Synchronization
import TestSupport

/// Runs tasks, queues, timers and the main actor on one thread, in an order that a seed decides.
///
/// Everything that could run at a moment is a choice: the next job of the main actor, the next work of a queue, any job of
/// the global executor, the next timer. Where a thread would wait for a disk, others are run meanwhile. So whatever order is
/// found to be wrong can be had again. Time is virtual: it passes when a timer is run.
final class Simulation: Sendable {
    private struct State {
        var random: SeededRandom
        var queues: [[@Sendable () -> Void]] = []
        /// The queues of which a piece of work is under way.
        var busy: Set<Int> = []
        var main: [UnownedJob] = []
        var isMainBusy = false
        var global: [UnownedJob] = []
        /// Tasks that let others run first.
        var paused: [UnsafeContinuation<Void, Never>] = []
        var timers: [(time: Duration, work: @Sendable () -> Void)] = []
        var now = Duration.zero
        var steps = 0
        var depth = 0
        var digest: UInt64 = 0
    }

    /// One thing that can be run.
    private enum Choice {
        case main(UnownedJob)
        case global(UnownedJob)
        case paused(UnsafeContinuation<Void, Never>)
        case queue(Int, @Sendable () -> Void)
        case timer(@Sendable () -> Void)
    }

    private let state: Mutex<State>
    /// The one that takes the jobs of tasks.
    private static let current = Mutex<Simulation?>(nil)

    init(seed: UInt64) {
        state = Mutex(State(random: SeededRandom(seed: seed)))
    }

    // MARK: Running

    /// Runs the work in a task, and everything that comes of it, until the work has ended.
    ///
    /// - Returns: False if there was nothing left to run before, or no end of it.
    @MainActor
    func run(_ work: @escaping @Sendable () async -> Void) -> Bool {
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
        while isRunning.isSet {
            guard step(), stepCount < Simulation.stepLimit else { return false }
        }
        return true
    }

    private static let stepLimit = 300_000

    /// How many things were run.
    var stepCount: Int { state.withLock { $0.steps } }
    /// A number that two runs share only if they ran the same things in the same order.
    var digest: UInt64 { state.withLock { $0.digest } }

    /// What waits, for a report.
    var summary: String {
        state.withLock { state in
            "\(state.steps) steps, \(state.main.count) on main\(state.isMainBusy ? " (busy)" : ""), "
                + "\(state.global.count + state.paused.count) tasks, queues \(state.queues.map(\.count)) busy \(state.busy.sorted()), "
                + "\(state.timers.count) timers, depth \(state.depth)"
        }
    }

    /// Runs some other things, as happens while a thread waits for a disk.
    func interleave() {
        let count = state.withLock { state -> Int? in
            guard state.depth < 5 else { return nil }
            state.depth += 1
            return [0, 0, 1, 2, 5][state.random.next(below: 5)]
        }
        guard let count else { return }
        for _ in 0..<count { if !step() { break } }
        state.withLock { $0.depth -= 1 }
    }

    /// Lets others run, as `Task.yield()` does, whose jobs do not come here.
    func pause() async {
        await withUnsafeContinuation { (continuation: UnsafeContinuation<Void, Never>) in
            state.withLock { $0.paused.append(continuation) }
        }
    }

    /// A number that follows from the seed, and from what was run before.
    func random(below bound: Int) -> Int { state.withLock { $0.random.next(below: bound) } }

    private func step() -> Bool {
        guard let choice = state.withLock({ Simulation.choose(&$0) }) else { return false }
        switch choice {
        case .main(let job):
            job.runSynchronously(on: SimulatedMain.shared.asUnownedSerialExecutor())
            state.withLock { $0.isMainBusy = false }
        case .global(let job):
            job.runSynchronously(on: Simulation.genericExecutor)
        case .paused(let continuation):
            continuation.resume()
        case .queue(let queue, let work):
            work()
            state.withLock { _ = $0.busy.remove(queue) }
        case .timer(let work):
            work()
        }
        return true
    }

    /// The executor of code that has none.
    private static let genericExecutor = unsafeBitCast((0, 0) as (Int, Int), to: UnownedSerialExecutor.self)

    private static func choose(_ state: inout State) -> Choice? {
        let isMainReady = !state.main.isEmpty && !state.isMainBusy
        let queues = state.queues.indices.filter { !state.queues[$0].isEmpty && !state.busy.contains($0) }
        // Several tasks are as likely as one of them alone and all queues together.
        let globalWeight = min(state.global.count + state.paused.count, 3)
        let weight = (isMainReady ? 1 : 0) + queues.count + globalWeight
        if !state.timers.isEmpty, weight == 0 || state.random.next(below: 24) == 0 { return takeTimer(&state) }
        guard weight > 0 else { return nil }
        var number = state.random.next(below: weight)
        state.steps += 1
        state.digest = (state.digest &* 0x100_0000_01B3) ^ UInt64(number << 8 | weight)
        if isMainReady {
            if number == 0 {
                state.isMainBusy = true
                return .main(state.main.removeFirst())
            }
            number -= 1
        }
        if number < queues.count {
            state.busy.insert(queues[number])
            return .queue(queues[number], state.queues[queues[number]].removeFirst())
        }
        number = state.random.next(below: state.global.count + state.paused.count)
        return number < state.global.count
            ? .global(state.global.remove(at: number)) : .paused(state.paused.remove(at: number - state.global.count))
    }

    private static func takeTimer(_ state: inout State) -> Choice? {
        guard let next = state.timers.indices.min(by: { state.timers[$0].time < state.timers[$1].time }) else {
            return nil
        }
        let timer = state.timers.remove(at: next)
        state.steps += 1
        state.now = max(state.now, timer.time)
        state.digest = (state.digest &* 0x100_0000_01B3) ^ 0xFFFF
        return .timer(timer.work)
    }

    // MARK: What is run

    private static let hook: @Sendable @convention(c) (UnsafeMutableRawPointer?) -> Void = { take($0) }

    private static func take(_ job: UnsafeMutableRawPointer?) {
        guard let job, let simulation = current.withLock({ $0 }) else { return }
        let unowned = unsafeBitCast(job, to: UnownedJob.self)
        simulation.state.withLock { $0.global.append(unowned) }
    }

    fileprivate static func takeMain(_ job: UnownedJob) {
        current.withLock { $0 }?.state.withLock { $0.main.append(job) }
    }

    fileprivate static var isMainBusy: Bool { current.withLock { $0 }?.state.withLock { $0.isMainBusy } ?? false }

    fileprivate func addQueue() -> Int {
        state.withLock { state in
            state.queues.append([])
            return state.queues.count - 1
        }
    }

    fileprivate func enqueue(_ work: @escaping @Sendable () -> Void, on queue: Int) {
        state.withLock { $0.queues[queue].append(work) }
    }

    /// Runs what waits in a queue, up to now.
    fileprivate func drain(_ queue: Int) {
        while let work = state.withLock({ $0.queues[queue].isEmpty ? nil : $0.queues[queue].removeFirst() }) { work() }
    }

    fileprivate func isBusy(_ queue: Int) -> Bool { state.withLock { $0.busy.contains(queue) } }

    fileprivate func after(_ delay: Duration, _ work: @escaping @Sendable () -> Void) {
        state.withLock { $0.timers.append(($0.now + delay, work)) }
    }
}

extension Simulation {
    /// For a container that is to run in the simulation.
    var scheduling: WorkScheduling {
        WorkScheduling { _, _ in
            SimulatedQueue(self)
        } after: { delay, work in
            self.after(delay, work)
        }
    }
}

/// The main actor of the simulation that runs.
private final class SimulatedMain: SerialExecutor {
    static let shared = SimulatedMain()

    func enqueue(_ job: consuming ExecutorJob) { Simulation.takeMain(UnownedJob(job)) }

    func checkIsolated() { precondition(Simulation.isMainBusy, "Code runs elsewhere than on the main actor.") }
}

/// A serial queue of a simulation.
private final class SimulatedQueue: WorkQueue {
    private let simulation: Simulation
    private let number: Int

    init(_ simulation: Simulation) {
        self.simulation = simulation
        number = simulation.addQueue()
    }

    func async(_ work: @escaping @Sendable () -> Void) { simulation.enqueue(work, on: number) }

    func sync<R>(_ work: () throws -> R) rethrows -> R {
        precondition(!simulation.isBusy(number), "A queue waits for itself.")
        simulation.drain(number)
        return try work()
    }

    func checkIsCurrent() {
        precondition(simulation.isBusy(number), "Code runs on another queue than it has to.")
    }
}
