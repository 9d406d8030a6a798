import CoreDataSource

extension Simulation {
    /// For a container that is to run in the simulation.
    var scheduling: WorkScheduling {
        WorkScheduling { _, isPrivate in
            SimulatedQueue(self, isPrivate)
        } after: { delay, work in
            self.after(delay, work)
        } makeSignal: {
            SimulatedSignal(self)
        }
    }
}

/// A serial queue of a simulation.
private final class SimulatedQueue: WorkQueue {
    private let simulation: Simulation
    private let number: Int

    init(_ simulation: Simulation, _ isPrivate: Bool) {
        self.simulation = simulation
        number = simulation.addQueue(isPrivate: isPrivate)
    }

    func async(_ work: @escaping @Sendable () -> Void) { simulation.enqueue(work, on: number) }

    func sync<R>(_ work: () throws -> R) rethrows -> R {
        precondition(!simulation.isBusy(number), "A queue waits for itself.")
        return try simulation.runAndWait(on: number, work)
    }

    func checkIsCurrent() {
        precondition(simulation.isBusy(number), "Code runs on another queue than it has to.")
    }
}

/// What a blocked call waits for. Everybody else goes on meanwhile.
private final class SimulatedSignal: WorkSignal {
    private let simulation: Simulation
    private let isGiven = Flag()

    init(_ simulation: Simulation) {
        self.simulation = simulation
    }

    func signal() { isGiven.clear() }
    func wait() { simulation.wait { !self.isGiven.isSet } }
}

/// The main actor of the simulation that runs.
final class SimulatedMain: SerialExecutor {
    static let shared = SimulatedMain()

    func enqueue(_ job: consuming ExecutorJob) { Simulation.takeMain(UnownedJob(job)) }

    func checkIsolated() { precondition(Simulation.isMainBusy, "Code runs elsewhere than on the main actor.") }
}
