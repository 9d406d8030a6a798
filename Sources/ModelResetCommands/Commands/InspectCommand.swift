internal import CommandLineWords
internal import Foundation
internal import ManagedModel
internal import RowStore

/// Shows the contents of a store and its newest saves. Changes nothing, so other processes can have the store open.
struct InspectCommand: Command {
    static let usage = """
        Usage: model-reset inspect STORE [--name NAME] [--model MODEL]... [--values] [--follow] [--json]

        Shows a store, even while other processes have it open, and changes nothing. Shows its entities and their numbers of
        objects, its members, their leases and the members that wait for a lease, and the newest saves with each changed value
        before and after. If the store keeps a history, shows the history's size, consumers and newest records.
        Only the process that shows a list knows why the list changed: print the list's lastUpdateReason there.

          STORE                 a file, or the address of a database, postgresql://USER@HOST/DATABASE, with --name
          --name NAME           the name of the store in the database
          --model MODEL         a model to decode saves with, besides the store's own copy. If an app's model has its attributes in
                                another order than this copy, the app's saves can be decoded only with the app's model
          --values              shows the values in the records of the history
          --follow              continues with each new save until the program is ended; with --json, each save is a line
          --json                prints the answer as JSON, on one line

        """

    let target: StoreTarget
    let models: [ModelArgument]
    let isFollowing: Bool
    let showsValues: Bool

    private static let shownSaveCount = 10

    init(_ words: ArraySlice<String>) throws {
        let words = try CommandLineWords(
            command: words, flags: ["--follow", "--values"], values: ["--name", "--model"], lists: ["--model"])
        target = try StoreTarget(words.plain("STORE")[0], name: words.value("--name"))
        models = words.list("--model").map { ModelArgument(path: $0) }
        isFollowing = words.flag("--follow")
        showsValues = words.flag("--values")
    }

    func run(_ warnings: inout [String]) throws -> Report {
        let models = try models.map { try $0.read(&warnings) }
        let inspector = try target.inspector(models)
        let inspection = try inspector.inspection(tail: InspectCommand.shownSaveCount)
        let occupants = try target.occupants()
        let changes = ChangeReader(inspection.metadata, models)
        let lines = InspectionLines(
            inspection, title: target.title, occupants: occupants, changes: changes, showsValues: showsValues
        ).all
        var report = Report(
            lines, inspection.json(target.title, occupants, changes, showsValues: showsValues))
        guard isFollowing else { return report }
        guard let feed = inspection.feed else {
            throw DataSourceError(
                .invalidRequest,
                "\(target.title) has no feed to follow, because the store was never shared. Run inspect without --follow."
            )
        }
        report.follow = { print in
            var follower = FeedFollower(
                inspector: inspector, models: models, storeID: inspection.metadata.storeID, position: feed.position,
                changes: changes)
            while true { try follower.poll(print) }
        }
        return report
    }
}

/// Shows each new save of a store.
struct FeedFollower {
    let inspector: any StoreInspector
    let models: [ManagedObjectModel]
    var storeID: String
    /// The position of the last shown save.
    var position: Int64
    var changes: ChangeReader
    private var isUnavailable = false

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

    /// Shows new saves. If there are none, waits for an interval.
    mutating func poll(_ print: (Report) -> Void) throws {
        do throws(DataSourceError) {
            guard let found = try inspector.saves(after: position) else { return wait() }
            isUnavailable = false
            if found.storeID != storeID || found.position < position { return try begin(found.storeID, print) }
            show(found, print)
        } catch {
            // The error can be temporary: a reset replaces the files, and a server can restart.
            let mayReturn: Set<DataSourceError.Code> = [
                .storeNotFound, .notAFile, .notADatabase, .storeBusy, .storeUnavailable,
            ]
            guard mayReturn.contains(error.code) else { throw error }
            if !isUnavailable { print(note("the store cannot be read: \(error)")) }
            isUnavailable = true
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
            recordGap(before: save.position, print)
            print(Report(changes.lines(save, found.members), changes.json(save, found.members)))
            position = save.position
        }
        guard found.saves.isEmpty else { return }
        recordGap(before: found.position + 1, print)
        position = found.position
        wait()
    }

    /// Reports the missing saves before the save `next`. A missing save was not shown, and is no longer in the feed.
    private func recordGap(before next: Int64, _ print: (Report) -> Void) {
        guard next > position + 1 else { return }
        let gap = next == position + 2 ? "the save \(position + 1) is" : "the saves \(position + 1) to \(next - 1) are"
        print(note("\(gap) no longer recorded"))
    }

    private func note(_ text: String) -> Report { Report([text], .object([("note", .string(text))])) }

    private func wait() { Thread.sleep(forTimeInterval: inspector.interval / .seconds(1)) }
}
