internal import RowStore

/// The objects of a list that were asked for last, and of the rows near them: their relationships are read together.
@MainActor
final class ListPage {
    /// How many objects are made together.
    static let size = 64

    private let main: MainTier
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
        prefetch = request.prefetch.isEmpty ? { _ in } : { try? main.context.prefetch(request, $0) }
    }

    /// The object of a row.
    ///
    /// - Parameter isBehind: Whether main has merged newer saves than the state has.
    func object(at index: Int, in state: ListState, isBehind: Bool) -> ManagedObject {
        guard !isBehind, main.hasRelationships(state.rows[index].entity) else {
            forget()
            return main.object(state.rows[index], asOf: state.asOf, isBehind: isBehind)
        }
        if self.state !== state || !range.contains(index) {
            self.state = state
            let start = index / ListPage.size * ListPage.size
            range = start..<min(start + ListPage.size, state.count)
            objects = range.map { main.object(state.rows[$0], asOf: state.asOf, isBehind: false) }
            readTogether(objects)
        }
        return objects[index - range.lowerBound]
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
