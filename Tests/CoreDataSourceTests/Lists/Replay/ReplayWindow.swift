import CoreDataSource

/// A list of a few letters that is observed, and where it has to begin.
@MainActor
final class ReplayWindow {
    let list: LiveList<Letter>
    private(set) var cursor: FetchCursor?

    init(_ list: LiveList<Letter>) { self.list = list }

    static func request(after cursor: FetchCursor?) -> ObjectRequest<Letter> {
        var request = ObjectRequest(Letter.self, order: [.ascending(\.subject), .ascending(\.key)], limit: 4)
        request.after = cursor
        return request
    }

    func move(after cursor: FetchCursor?) throws {
        try list.moveWindow(after: cursor)
        self.cursor = cursor
    }
}
