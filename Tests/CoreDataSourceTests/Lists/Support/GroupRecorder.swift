import CoreDataSource
import Foundation

/// A delegate that records its groups of calls and their objects.
@MainActor
final class GroupRecorder: DataSourceDelegate {
    /// One object of a group.
    struct Change {
        let type: ListChangeType
        let object: ManagedObject
        let old: IndexPath?
        let new: IndexPath?
    }

    /// What has been reported, group by group.
    private(set) var groups: [[Change]] = []
    /// Calls that came inside a group, or outside of any.
    private(set) var problems: [String] = []
    /// Called for each object.
    var onObject: @MainActor (ManagedObject) -> Void = { _ in }
    /// Called at the beginning and at the end of each group.
    var onWill: @MainActor () -> Void = {}
    var onDid: @MainActor () -> Void = {}
    private var isInGroup = false
    /// Groups of all recorders share this, if there are several: no two groups may overlap.
    private let shared: Open

    /// Whether any of several recorders is in a group.
    @MainActor
    final class Open {
        var isOpen = false
    }

    init(_ shared: Open? = nil) { self.shared = shared ?? Open() }

    var types: [[ListChangeType]] { groups.map { $0.map(\.type) } }
    var changes: [Change] { groups.flatMap { $0 } }

    func takeGroups() -> [[Change]] {
        defer { groups = [] }
        return groups
    }

    func willChangeContent(dataKey: String) {
        if isInGroup { problems.append("a group began inside a group") }
        if shared.isOpen { problems.append("a group began inside a group of another delegate") }
        (isInGroup, shared.isOpen) = (true, true)
        groups.append([])
        onWill()
    }

    func didChangeObject(
        _ object: ManagedObject, at indexPath: IndexPath?, for type: ListChangeType, newIndexPath: IndexPath?,
        dataKey: String
    ) {
        if !isInGroup { problems.append("an object was reported outside of a group") }
        if groups.isEmpty { groups.append([]) }
        groups[groups.count - 1].append(Change(type: type, object: object, old: indexPath, new: newIndexPath))
        onObject(object)
    }

    func didChangeContent(dataKey: String) {
        if !isInGroup { problems.append("a group ended twice") }
        onDid()
        (isInGroup, shared.isOpen) = (false, false)
    }
}
