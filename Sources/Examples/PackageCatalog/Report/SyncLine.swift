internal import CoreDataSource

/// The result of a sync of one data source, on one line.
struct SyncLine: CustomStringConvertible {
    let description: String

    init(_ name: String, _ report: SyncReport, broken: Int, rows: Int) {
        description = """
            \(name): read=\(report.read + broken) inserted=\(report.inserted) updated=\(report.updated) \
            unchanged=\(report.unchanged) deleted=\(report.deleted) duplicates=\(report.duplicates) broken=\(broken) \
            rows=\(rows)
            """
    }
}

extension StoreStartup {
    var sentence: String {
        switch reason {
        case .firstLaunch: return "first launch"
        case .current: return "current"
        default:
            var changes: [String] = []
            if reason.isModelChanged { changes.append("the model (\(reason.changedEntities.joined(separator: ", ")))") }
            if reason.isDatabaseKeyChanged { changes.append("the database key") }
            return "reset, \(changes.joined(separator: " and ")) changed; \(rowsDropped) rows dropped"
        }
    }
}
