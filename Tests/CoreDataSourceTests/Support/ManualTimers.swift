import CoreDataSource
import RowStore

/// Timers that run when a test says so, on queues of the system.
final class ManualTimers: Sendable {
    private let waiting = Guarded<[(delay: Duration, work: @Sendable () -> Void)]>([])
    private let time = Guarded(ContinuousClock.now)

    var scheduling: WorkScheduling {
        var scheduling = WorkScheduling.system
        scheduling.after = { delay, work in self.waiting.withLock { $0.append((delay, work)) } }
        scheduling.instant = { self.time.withLock { $0 } }
        return scheduling
    }

    /// The clock of the test, and its timers of one length. All other timers are those of the system.
    func scheduling(only length: Duration) -> WorkScheduling {
        let (system, manual) = (WorkScheduling.system, scheduling)
        var scheduling = manual
        scheduling.after = { delay, work in (delay == length ? manual : system).after(delay, work) }
        return scheduling
    }

    /// Moves the clock without running timers, as if the system had slept.
    func pass(_ duration: Duration) { time.withLock { $0 += duration } }

    /// How long the timers are that have not run.
    var delays: [Duration] { waiting.withLock { $0.map(\.delay) } }

    /// Runs the timers that are set now.
    ///
    /// - Parameter isWanted: Whether to run a timer of a length; all by default.
    func fire(where isWanted: (Duration) -> Bool = { _ in true }) {
        let fired = waiting.withLock { waiting in
            defer { waiting.removeAll { isWanted($0.delay) } }
            return waiting.filter { isWanted($0.delay) }
        }
        for timer in fired { timer.work() }
    }
}

extension PersistentContainer {
    /// A container over the chat model whose store can be made to fail and whose timers run when the test says so.
    static func timed(
        configuration: Configuration = Configuration()
    ) -> (container: PersistentContainer, store: FaultyStore, timers: ManualTimers) {
        let layout = ModelLayout(.chat)
        let store = FaultyStore(layout)
        let timers = ManualTimers()
        let container = PersistentContainer(
            layout, store, startup: StoreStartup(reason: .firstLaunch), configuration: configuration,
            scheduling: timers.scheduling)
        return (container, store, timers)
    }
}
