internal import CommandLineWords
internal import Foundation
internal import RowStore

/// Shows what the next start of an app would do to a store, and changes nothing.
struct StatusCommand: Command {
    static let usage = """
        Usage: model-reset status MODEL --store STORE [--name NAME] [--database-key KEY] [--version NAME]
                                 [--configuration NAME] [--json]

        Shows what the next start of an app would do with a store and why, and which processes have the store open. Changes nothing.

          MODEL                 a .xcdatamodeld bundle, the .xcdatamodel of one version, or a folder or files of Swift
          --store STORE         a file, or the address of a database, postgresql://USER@HOST/DATABASE, with --name
          --name NAME           the name of the store in the database
          --database-key KEY    the app's label for the contents, as passed to its container; without it, the key of the store
          --version NAME        the version of the model; without it, the current version
          --configuration NAME  the configuration whose entities the store has; without it, the configuration that the store was
                                made for. An empty name means the whole model
          --json                prints the answer as JSON, on one line

        Exit status: 0 the store would be opened or made; 1 the store would be reset, or an app could not open it.

        """

    let store: StoreArgument

    init(_ words: ArraySlice<String>) throws {
        store = try StoreArgument(CommandLineWords(command: words, values: StoreArgument.valueNames))
    }

    func run(_ warnings: inout [String]) throws -> Report {
        let target = try store.target(&warnings)
        let startup = try target.forecast(countsRows: false)
        startup.warnOfUncountedRows(&warnings)
        let migration = try target.migrationForecast()
        let outlook = try target.outlook()
        let occupants = try target.occupants()
        let isReset = startup.isReset && target.isResetByDefault
        let isKept = isReset && target.keepsBackup(startup.reason)
        let json = JSON.object([
            ("action", .string(startup.isReset && !isReset ? "fail" : startup.action)),
            ("reason", .string(startup.reason.name)), ("entities", .strings(startup.reason.entities)),
            ("rowsDropped", .number(isReset ? startup.rowsDropped : 0)),
            ("countFailure", .string(startup.countFailure)),
            ("policy", .string("standard")), ("keepsBackup", .flag(isKept)),
            ("removedBackups", .strings(startup.removedBackups.map(\.path))), ("migration", migration?.json ?? .null),
            ("upgradedFromFormat", outlook?.olderFormat.map { .number(Int($0)) } ?? .null),
            (
                "danglingLinks",
                .object((outlook?.danglingLinks ?? [:]).sorted { $0.key < $1.key }.map { ($0, .number($1)) })
            ),
            ("open", .flag(occupants.isOpen)), ("members", occupants.json),
        ])
        let first = isReset || !startup.isReset ? line(startup, isKept: isKept) : failureLine(startup)
        return Report(
            [first] + occupants.lines + (outlook?.lines ?? []) + (migration?.lines ?? []), json,
            status: startup.isReset ? .differs : .success)
    }

    private func line(_ startup: StoreStartup, isKept: Bool) -> String {
        let location = isKept ? "set aside as a backup" : nil
        let consequence = startup.isReset ? "; \(startup.resetConsequence("would be ", keeping: location))" : ""
        return "\(startup.action): \(startup.reason.sentence)\(consequence)"
    }

    private func failureLine(_ startup: StoreStartup) -> String {
        "fail: \(startup.reason.sentence); a store on a server is never reset by default, so opening the store throws "
            + "modelChanged, and its \(startup.rowsDropped.objects) stay"
    }
}

extension StoreStartup {
    /// Adds a warning if not all rows could be counted.
    func warnOfUncountedRows(_ warnings: inout [String]) {
        guard let countFailure else { return }
        warnings.append("not all rows of the store could be counted, because the store is damaged: \(countFailure)")
    }

    fileprivate var action: String {
        switch reason {
        case .firstLaunch: "create"
        case .current: "open"
        default: "reset"
        }
    }
}

extension StoreOutlook {
    fileprivate var lines: [String] {
        var lines: [String] = []
        if let olderFormat {
            lines.append(
                "its format \(olderFormat) would be upgraded to \(format) in place; every object and every link stays")
        }
        for (name, count) in danglingLinks.sorted(by: { $0.key < $1.key }) {
            lines.append(
                "\(count) \(count == 1 ? "link" : "links") of \(name) \(count == 1 ? "leads" : "lead") to objects that are gone, and \(count == 1 ? "reads" : "read") as nil"
            )
        }
        return lines
    }
}

extension MigrationForecast {
    /// Describes what happens when an app opens the store with the policy `.migrate`.
    fileprivate var lines: [String] {
        switch self {
        case .possible(let report):
            let isWhole = report.losses.isEmpty
            return [
                "a migration would carry \(report.rowsCarried.objects) over\(isWhole ? "" : "; these would be lost:")"
            ]
                + report.losses.map { "  \($0)" }
                + (report.unmetRequirements.isEmpty
                    ? [] : ["some objects break these new rules, and would be kept unchanged:"])
                + report.unmetRequirements.map { "  \($0)" }
        case .impossible(let reason):
            return ["cannot be migrated: \(reason)"]
        }
    }

    fileprivate var json: JSON {
        switch self {
        case .possible(let report):
            .object([
                ("possible", .flag(true)), ("rowsCarried", .number(report.rowsCarried)),
                ("removedEntities", .strings(report.removedEntities)), ("changes", .strings(report.changes)),
                ("losses", .strings(report.losses)),
                ("unmetRequirements", .strings(report.unmetRequirements)), ("reason", .null),
            ])
        case .impossible(let reason):
            .object([
                ("possible", .flag(false)), ("rowsCarried", .number(0)), ("removedEntities", .list([])),
                ("changes", .list([])), ("losses", .list([])), ("unmetRequirements", .list([])),
                ("reason", .string(reason)),
            ])
        }
    }
}
