import CoreDataSource
import Foundation
import TestSupport

/// What a list of the replay shows.
enum ReplayRequest {
    /// The cells show the title of the topic if the list depends on it.
    case letters(ObjectRequest<Letter>, sectionBy: PartialKeyPath<Letter>?, showsTitle: Bool)
    case topics(ObjectRequest<Topic>)

    init(_ random: inout SeededRandom) throws {
        if random.next(below: 3) == 0 {
            self = .topics(try ReplayRequest.topics(&random))
        } else {
            let section: PartialKeyPath<Letter>? = random.next(below: 3) == 0 ? \.subject : nil
            let (request, showsTitle) = ReplayRequest.letters(&random)
            self = .letters(request, sectionBy: section, showsTitle: showsTitle)
        }
    }

    private static func topics(_ random: inout SeededRandom) throws -> ObjectRequest<Topic> {
        var request = ObjectRequest(Topic.self, order: [.ascending(\.title), .ascending(\.key)])
        switch random.next(below: 6) {
        case 0: request.limit = 2
        case 4: request.predicate = \.title == "\(random.next(below: 4))"
        case 1: request.predicate = \.title < "2"
        case 2: request.predicate = try FetchPredicate(format: "letters.@count > 1")
        case 3: request.predicate = FetchPredicate(#Predicate { $0.key.contains { $0.isLowercase } && $0.title != "3" })
        default: break
        }
        return request
    }

    private static func letters(_ random: inout SeededRandom) -> (ObjectRequest<Letter>, showsTitle: Bool) {
        var request = ObjectRequest(Letter.self, order: [.ascending(\.subject), .ascending(\.key)])
        let kind = random.next(below: 9)
        switch kind {
        case 0: request.predicate = \.subject < "5"
        case 1: request.predicate = \.topic?.title < "2"
        case 2:
            request.predicate = FetchPredicate(#Predicate { $0.key.contains { $0.isLowercase } && $0.subject > "3" })
        case 3: request.order.insert(.ascending(\.topic?.title), at: 0)
        // Most saves concern no such list.
        case 4: request.predicate = \.subject == "\(random.next(below: 10))"
        case 5: request.predicate = \.topic == nil && \.subject == "\(random.next(below: 10))"
        case 6: request.predicate = \.topic == nil && \.key < "l5"
        default: break
        }
        if random.next(below: 3) == 0 { request.limit = 4 }
        return (request, kind == 1 || kind == 3)
    }

    var isOfTopics: Bool { if case .topics = self { true } else { false } }

    /// Whether the place where it begins is one among its own values, which a cursor keeps as they were.
    var isMovable: Bool {
        if case .letters(let request, _, _) = self { request.order.count == 2 } else { true }
    }

    func moved(after cursor: FetchCursor?) -> ReplayRequest {
        switch self {
        case .letters(var request, let section, let showsTitle):
            request.after = cursor
            return .letters(request, sectionBy: section, showsTitle: showsTitle)
        case .topics(var request):
            request.after = cursor
            return .topics(request)
        }
    }

    /// What a cell of the list shows.
    func cell(_ object: ManagedObject) -> String {
        guard case .letters(_, _, showsTitle: true) = self, let letter = object as? Letter else {
            return object.replayCell
        }
        return "\(letter.replayCell) \(letter.topic?.title ?? "-")"
    }

    /// The keys of what a fetch finds; nil if the list has another order.
    @MainActor func fetchedKeys(_ source: EntityDataSource) throws -> [Int64]? {
        switch self {
        case .letters(let request, sectionBy: nil, _): try source.main.fetch(request).map(\.objectID.key)
        case .letters: nil
        case .topics(let request): try source.main.fetch(request).map(\.objectID.key)
        }
    }

    @MainActor func register(_ delegate: any DataSourceDelegate, _ dataKey: String, _ source: EntityDataSource) throws {
        switch self {
        case .letters(let request, let section, _):
            try source.register(delegate, dataKey: dataKey, request, sectionBy: section)
        case .topics(let request): try source.register(delegate, dataKey: dataKey, request)
        }
    }
}

/// A table of the replay: it draws the cells that are reported, and no others.
@MainActor
final class ReplayTable: DataSourceDelegate {
    private(set) var request: ReplayRequest
    let dataKey: String
    private unowned let replay: ListReplay
    private(set) var shown = ShownList(sections: [])
    private var deletedSections: [Int] = []
    private var insertedSections: [Int] = []
    private var changes: [ShownList.Change] = []

    init(_ request: ReplayRequest, _ dataKey: String, _ replay: ListReplay) {
        (self.request, self.dataKey, self.replay) = (request, dataKey, replay)
    }

    /// Draws all cells.
    func reload() { shown = replay.shown(dataKey, request) }

    /// The list begins elsewhere, which is not reported.
    func move(after cursor: FetchCursor?) {
        request = request.moved(after: cursor)
        reload()
    }

    func willChangeContent(dataKey: String) {
        replay.enter(self)
        (deletedSections, insertedSections, changes) = ([], [], [])
        replay.act(in: self)
    }

    func didChangeSection(_ section: ListSection, at index: Int, for type: ListChangeType, dataKey: String) {
        if type == .delete { deletedSections.append(index) } else { insertedSections.append(index) }
    }

    func didChangeObject(
        _ object: ManagedObject, at indexPath: IndexPath?, for type: ListChangeType, newIndexPath: IndexPath?,
        dataKey: String
    ) {
        changes.append(
            ShownList.Change(
                old: indexPath.map { ($0.section, $0.item) }, new: newIndexPath.map { ($0.section, $0.item) },
                isUpdate: type == .update))
        replay.record("\(dataKey): \(type) \(object.replayCell) at \(String(describing: newIndexPath ?? indexPath))")
        replay.hold(object)
        replay.act(in: self)
    }

    func didChangeContent(dataKey: String) {
        let result = replay.shown(dataKey, request)
        let problem = shown.replay(
            deletedSections: deletedSections, insertedSections: insertedSections, changes, result: result)
        if let problem { replay.recordProblem("table: \(problem)") }
        // Objects may be newer than the list, but what it shows is in its place.
        if shown.keys != result.keys { replay.recordProblem("table: \(shown.keys) instead of \(result.keys)") }
        replay.act(in: self)
        replay.leave(self)
    }

    func didFail(_ error: DataSourceError, dataKey: String) { replay.recordProblem("failure: \(error)") }
}

extension ShownList {
    var keys: [[Int64]] { sections.map { $0.rows.map(\.key) } }
}
