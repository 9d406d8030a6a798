import CoreDataSource
import Foundation

/// A delegate that records its calls, and keeps a table as a table view would.
@MainActor
final class RecordingDelegate: DataSourceDelegate {
    private(set) var calls: [String] = []
    /// What the table shows; nil until it is asked to follow.
    private(set) var table: ShownList?
    /// What a table view would have complained about.
    private(set) var problems: [String] = []
    private(set) var failures: [DataSourceError] = []
    /// How many changes are reported one by one.
    var changeLimit = Int.max
    /// Called at the end of each report.
    var onDidChange: @MainActor () -> Void = {}
    /// Called at the beginning of each report.
    var onWill: @MainActor () -> Void = {}
    /// Called for each section.
    var onSection: @MainActor () -> Void = {}
    /// Called for each object.
    var onObject: @MainActor () -> Void = {}
    /// Called when rows could not be read.
    var onFailure: @MainActor () -> Void = {}
    private var source: EntityDataSource?
    private var deletedSections: [Int] = []
    private var insertedSections: [Int] = []
    private var changes: [ShownList.Change] = []

    /// Begins to follow a list that is registered.
    func follow(_ source: EntityDataSource, _ dataKey: String) {
        self.source = source
        table = source.shown(dataKey)
    }

    /// The calls since they were last taken.
    func takeCalls() -> [String] {
        defer { calls = [] }
        return calls
    }

    func willChangeContent(dataKey: String) {
        calls.append("will")
        (deletedSections, insertedSections, changes) = ([], [], [])
        onWill()
    }

    func didChangeSection(_ section: ListSection, at index: Int, for type: ListChangeType, dataKey: String) {
        calls.append("\(type) section \(index) \(section.name)")
        if type == .delete { deletedSections.append(index) } else { insertedSections.append(index) }
        onSection()
    }

    func didChangeObject(
        _ object: ManagedObject, at indexPath: IndexPath?, for type: ListChangeType, newIndexPath: IndexPath?,
        dataKey: String
    ) {
        calls.append("\(type) \(indexPath.map { "\($0)" } ?? "-") \(newIndexPath.map { "\($0)" } ?? "-")")
        changes.append(
            ShownList.Change(
                old: indexPath.map { ($0.section, $0.item) }, new: newIndexPath.map { ($0.section, $0.item) },
                isUpdate: type == .update))
        if (type == .insert) != (indexPath == nil) { problems.append("\(type) from \(indexPath as Any)") }
        if (type == .delete || type == .update) != (newIndexPath == nil) {
            problems.append("\(type) to \(newIndexPath as Any)")
        }
        onObject()
    }

    func didChangeContent(dataKey: String) {
        calls.append("did")
        if let source, var table {
            let result = source.shown(dataKey)
            let problem = table.replay(
                deletedSections: deletedSections, insertedSections: insertedSections, changes, result: result)
            if let problem { problems.append(problem) }
            if table != result { problems.append("\(table) is shown instead of \(result)") }
            self.table = table
        }
        onDidChange()
    }

    func changeLimit(dataKey: String) -> Int { changeLimit }

    func didReloadContent(dataKey: String) {
        calls.append("reload")
        table = source?.shown(dataKey)
        onDidChange()
    }

    func didFail(_ error: DataSourceError, dataKey: String) {
        failures.append(error)
        onFailure()
    }
}

extension EntityDataSource {
    /// What a list of contacts or items answers, cell by cell.
    func shown(_ dataKey: String) -> ShownList {
        ShownList(
            sections: (0..<numberOfSections(dataKey: dataKey)).map { section in
                let rows = (0..<numberOfItems(inSection: section, dataKey: dataKey)).compactMap { item in
                    object(at: IndexPath(item: item, section: section), dataKey: dataKey).map {
                        ShownList.Row(key: $0.objectID.key, content: $0.cell)
                    }
                }
                return ShownList.Section(name: sectionInfo(at: section, dataKey: dataKey)?.name ?? "", rows: rows)
            })
    }
}

extension ManagedObject {
    fileprivate var cell: String {
        switch self {
        case let contact as ContactEntity: "\(contact.uid) \(contact.name) \(contact.phone ?? "")"
        case let item as Item: "\(item.key) \(item.number) \(item.text ?? "nil")"
        default: ""
        }
    }
}
