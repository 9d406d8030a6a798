internal import CommandLineWords
internal import Foundation
internal import ManagedModel
internal import RowStore

/// Shows the contents of a store and what happens in it, and changes nothing. The store may be open elsewhere.
struct InspectCommand: Command {
    static let usage = """
        Usage: model-reset inspect STORE [--name NAME] [--model MODEL]... [--follow] [--json]

        Shows a store that may be open elsewhere, and changes nothing: its entities and objects, who shares it, who may write which
        entities and who waits, and the newest saves, with each changed value before and after.
        Why a list changed is known only in the process that shows it: print its lastUpdateReason there.

          STORE                 a file, or the address of a database, postgresql://USER@HOST/DATABASE, with --name
          --name NAME           the name of the store in the database
          --model MODEL         a model to decode saves with, beside the store's own copy: an app whose model has the attributes in
                                another order needs its own
          --follow              continues with each new save until it is ended; with --json each save is a line
          --json                prints the answer as JSON, on one line

        """

    let place: StorePlace
    let models: [ModelArgument]
    let isFollowing: Bool

    /// How many of the newest saves are shown.
    private static let tail = 10

    init(_ words: ArraySlice<String>) throws {
        let words = try CommandLineWords(
            command: words, flags: ["--follow"], values: ["--name", "--model"], lists: ["--model"])
        place = try StorePlace(words.plain("STORE")[0], name: words.value("--name"))
        models = words.list("--model").map { ModelArgument(path: $0) }
        isFollowing = words.flag("--follow")
    }

    func run(_ warnings: inout [String]) throws -> Report {
        let models = try models.map { try $0.read(&warnings) }
        let inspector = try place.inspector(models)
        let inspection = try inspector.inspection(tail: InspectCommand.tail)
        let occupants = try place.occupants()
        let changes = ChangeReader(inspection.metadata, models)
        let lines = InspectionLines(inspection, title: place.title, occupants: occupants, changes: changes).all
        var report = Report(lines, inspection.json(place.title, occupants, changes))
        guard isFollowing else { return report }
        guard let feed = inspection.feed else {
            throw DataSourceError(
                .invalidRequest,
                "\(place.title) has no feed to follow, because it was never shared. Inspect it without --follow.")
        }
        report.follow = { print in
            var follower = FeedFollower(
                inspector: inspector, models: models, storeID: inspection.metadata.storeID, position: feed.position,
                changes: changes)
            while true { try follower.look(print) }
        }
        return report
    }
}

/// Shows each new save of a store.
struct FeedFollower {
    let inspector: any StoreInspector
    let models: [ManagedObjectModel]
    /// The position that was last shown.
    var storeID: String
    var position: Int64
    var changes: ChangeReader
    private var isAway = false

    init(
        inspector: any StoreInspector, models: [ManagedObjectModel], storeID: String, position: Int64,
        changes: ChangeReader
    ) {
        self.inspector = inspector
        self.models = models
        self.storeID = storeID
        self.position = position
        self.changes = changes
    }

    /// Shows new saves, or waits a little if there are none.
    mutating func look(_ print: (Report) -> Void) throws {
        do throws(DataSourceError) {
            guard let found = try inspector.saves(after: position) else { return wait() }
            isAway = false
            if found.storeID != storeID || found.position < position { return try begin(found.storeID, print) }
            show(found, print)
        } catch {
            // A reset replaces the files, and a server may come back.
            let mayReturn: Set<DataSourceError.Code> = [
                .notAFile, .notADatabase, .storeBusy, .storeUnavailable,
            ]
            guard mayReturn.contains(error.code) else { throw error }
            if !isAway { print(note("the store cannot be read: \(error)")) }
            isAway = true
            wait()
        }
    }

    private mutating func begin(_ storeID: String, _ print: (Report) -> Void) throws(DataSourceError) {
        changes = ChangeReader(try inspector.inspection(tail: 0).metadata, models)
        self.storeID = storeID
        position = 0
        print(note("the store was reset"))
    }

    private mutating func show(_ found: NotedSaves, _ print: (Report) -> Void) {
        for save in found.saves {
            noteGap(before: save.position, print)
            print(Report(changes.lines(save, found.members), changes.json(save, found.members)))
            position = save.position
        }
        guard found.saves.isEmpty else { return }
        noteGap(before: found.position + 1, print)
        position = found.position
        wait()
    }

    /// Reports the saves that are no longer noted.
    private func noteGap(before next: Int64, _ print: (Report) -> Void) {
        guard next > position + 1 else { return }
        let gap = next == position + 2 ? "\(position + 1) is" : "\(position + 1) to \(next - 1) are"
        print(note("\(gap) no longer noted"))
    }

    private func note(_ text: String) -> Report { Report([text], .object([("note", .string(text))])) }

    private func wait() { Thread.sleep(forTimeInterval: inspector.interval / .seconds(1)) }
}
