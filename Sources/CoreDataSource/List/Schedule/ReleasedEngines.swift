internal import Synchronization

/// Counts the engines that were released and that their hub has not removed yet. Any thread may release an engine.
final class ReleasedEngines: Sendable {
    /// Counts an engine when the engine is released, because only the engine keeps the mark.
    final class Mark: Sendable {
        private let engines: ReleasedEngines

        fileprivate init(_ engines: ReleasedEngines) { self.engines = engines }

        deinit { engines.number.wrappingAdd(1, ordering: .relaxed) }
    }

    private let number = Atomic(0)

    /// The number of released engines. The number can be too low by engines that are being released.
    var count: Int { number.load(ordering: .relaxed) }

    func newMark() -> Mark { Mark(self) }

    func didRemove(_ count: Int) { number.wrappingSubtract(count, ordering: .relaxed) }
}
