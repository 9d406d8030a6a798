internal import RowStore

/// The objects of a list that were asked for last, and of the rows near them: their relationships are read together.
@MainActor
final class ListPage {
    /// How many objects are made together.
    static let size = 64

    /// Whoever has the page keeps main, or does without.
    private weak let main: MainTier?
    /// The names of the relationships that the request prefetches.
    let prefetched: [String]
    /// Follows them.
    private let prefetch: ([ManagedObject]) -> Void
    /// What the list showed.
    private weak var state: ListState?
    private var range = 0..<0
    private var objects: [ManagedObject] = []

    init<Object: ManagedObject>(_ request: FetchRequest<Object>, _ main: MainTier) {
        self.main = main
        prefetched = request.prefetched
        // What cannot be read now is read when it is touched.
        prefetch = request.prefetch.isEmpty ? { _ in } : { [weak main] in try? main?.context.prefetch(request, $0) }
    }

    /// The object of a row; nil if main is gone.
    ///
    /// - Parameter isBehind: Whether main has merged newer saves than the state has.
    func object(at index: Int, in state: ListState, isBehind: Bool) -> ManagedObject? {
        guard let main else { return nil }
        // One row costs nothing unless it has to be read, or leads to others that are.
        let isAlone = !isBehind && !main.hasRelationships(state.rows[index].entity)
        if isAlone { forget() }
        // Main keeps the objects of a page up to date.
        if self.state === state, range.contains(index) { return objects[index - range.lowerBound] }
        let start = isAlone ? index : index / ListPage.size * ListPage.size
        let range = start..<(isAlone ? index + 1 : min(start + ListPage.size, state.count))
        let rows = range.map { ReportedRow(state.rows[$0]) }
        let (objects, isComplete) = main.objects(rows, asOf: state.asOf, isBehind: isBehind)
        if isAlone { return objects[0] }
        readTogether(objects)
        (self.state, self.range, self.objects) = isComplete ? (state, range, objects) : (nil, 0..<0, [])
        return objects[index - start]
    }

    /// Lets the relationships of objects be read together. Those that are gone have none.
    func readTogether(_ objects: [ManagedObject]) {
        let present = objects.filter { !$0.isDeleted }
        FetchGroup.gather(present)
        prefetch(present)
    }

    private func forget() {
        (state, range, objects) = (nil, 0..<0, [])
    }
}
