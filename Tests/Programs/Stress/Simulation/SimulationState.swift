import CoreDataSource
import TestSupport

extension Simulation {
    struct Queue {
        let isPrivate: Bool
        var waiting: [@Sendable () -> Void] = []
        /// Whether a piece of its work is under way.
        var isBusy = false
    }

    /// One thing that can be run.
    enum Choice {
        case main(UnownedJob)
        case global(UnownedJob)
        case paused(UnsafeContinuation<Void, Never>)
        case queue(Int, @Sendable () -> Void)
        case timer(@Sendable () -> Void)
    }

    /// What waits to be run, and what decides which of it is next.
    struct State: CustomStringConvertible {
        var random: SeededRandom
        var queues: [Queue] = []
        var main: [UnownedJob] = []
        var isMainBusy = false
        var global: [UnownedJob] = []
        /// Tasks that let others run first.
        var paused: [UnsafeContinuation<Void, Never>] = []
        var timers: [(time: Duration, work: @Sendable () -> Void)] = []
        var now = Duration.zero
        var steps = 0
        /// What is under way, each inside of the one before: the number of its queue, or nil.
        var running: [Int?] = []
        /// How many of those wait for a disk.
        var depth = 0
        /// How many of those have a lock that private contexts take.
        var lockCount = 0
        private(set) var trace: UInt64 = 0xCBF2_9CE4_8422_2325
        /// Whether no private context works in the middle of another one's work.
        private let keepsPrivateQueuesApart: Bool

        /// In milliseconds of the simulation. A schedule is some thousand steps, and callers wait for ten seconds at most.
        private static let longestStep = 30

        init(random: SeededRandom, keepsPrivateQueuesApart: Bool) {
            self.random = random
            self.keepsPrivateQueuesApart = keepsPrivateQueuesApart
        }

        mutating func mix(_ number: UInt64) { trace = (trace ^ number) &* 0x100_0000_01B3 }

        /// What is run next; nil if there is nothing.
        mutating func choose() -> Choice? {
            let isMainReady = !main.isEmpty && !isMainBusy
            let holdsPrivate =
                lockCount > 0 || keepsPrivateQueuesApart && queues.contains { $0.isPrivate && $0.isBusy }
            let ready = queues.indices.filter {
                !queues[$0].waiting.isEmpty && !queues[$0].isBusy && !(holdsPrivate && queues[$0].isPrivate)
            }
            // Several tasks are as likely as one of them alone and all queues together.
            let taskWeight = min(global.count + paused.count, 3)
            let isTimerDue = timers.contains { $0.time <= now }
            let weight = (isMainReady ? 1 : 0) + ready.count + taskWeight + (isTimerDue ? 1 : 0)
            // Nobody waits for a disk until some timer is due.
            if weight == 0 { return depth == 0 ? takeTimer() : nil }
            var number = random.next(below: weight)
            steps += 1
            now += .milliseconds(random.next(below: State.longestStep))
            mix(UInt64(number << 8 | weight))
            if isMainReady {
                if number == 0 {
                    isMainBusy = true
                    return .main(main.removeFirst())
                }
                number -= 1
            }
            if number < ready.count {
                queues[ready[number]].isBusy = true
                return .queue(ready[number], queues[ready[number]].waiting.removeFirst())
            }
            if isTimerDue, number == ready.count { return takeTimer() }
            number = random.next(below: global.count + paused.count)
            mix(UInt64(number))
            return number < global.count
                ? .global(global.remove(at: number)) : .paused(paused.remove(at: number - global.count))
        }

        /// The next timer; time passes until then.
        private mutating func takeTimer() -> Choice? {
            guard let next = timers.indices.min(by: { timers[$0].time < timers[$1].time }) else { return nil }
            let timer = timers.remove(at: next)
            steps += 1
            now = max(now, timer.time)
            mix(0xFFFF)
            return .timer(timer.work)
        }

        var description: String {
            let queues = queues.enumerated().filter { !$1.waiting.isEmpty || $1.isBusy }
                .map { "queue \($0): \($1.waiting.count)\($1.isBusy ? " (busy)" : "")" }
            return "\(steps) steps, \(main.count) on main\(isMainBusy ? " (busy)" : ""), "
                + "\(global.count + paused.count) tasks, \(queues.joined(separator: ", ")), \(timers.count) timers, "
                + "\(depth) wait for the disk"
        }
    }
}
