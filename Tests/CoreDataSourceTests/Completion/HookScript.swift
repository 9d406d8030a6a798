import CoreDataSource
import ErrorExpectations
import Foundation
import RowStore
import Synchronization
import Testing

/// A value with the group that it belongs to.
struct Member: Sendable {
    var uid: String
    var gid: String?

    init(_ uid: String, _ gid: String? = nil) {
        (self.uid, self.gid) = (uid, gid)
    }
}

/// A data source of contacts and groups.
class MemberSource: DataSource<Member> {
    override class var entities: [ManagedObject.Type] { [ContactEntity.self, GroupEntity.self] }

    override func onAdd(_ member: Member, in context: PrivateContext) throws -> ManagedObject? {
        let contact = try context.findOrInsert(ContactEntity.self, where: \.uid, equals: member.uid)
        contact.name = "name \(member.uid)"
        contact.group = try member.gid.map { try context.findOrInsert(GroupEntity.self, where: \.gid, equals: $0) }
        return contact
    }

    override func onDelete(_ member: Member, in context: PrivateContext) throws {
        try context.delete(ContactEntity.self, where: \.uid == member.uid)
    }
}

/// What a hook does, and what it has got.
final class HookScript: Sendable {
    typealias Hook = @Sendable (PendingChanges, PrivateContext) throws -> Void

    /// Attributes that are not nil in a new object.
    private static let hasDefault: Set = ["syncFlag", "age", "isFavorite", "score", "memberCount"]

    private let hook = Mutex<Hook>({ _, _ in })
    private let calls = Mutex<[[String]]>([])
    private let lastNames = Mutex<[String]>([])

    func set(_ new: @escaping Hook) { hook.withLock { $0 = new } }

    func run(_ changes: PendingChanges, _ context: PrivateContext) throws {
        let contacts = try changes.of(ContactEntity.self)
        let byKey = Dictionary(uniqueKeysWithValues: contacts.map { ($0.object.objectID, $0) })
        let got = try changes.of(ManagedObject.self).map { change -> String in
            let key = (change.object as? ContactEntity)?.uid ?? (change.object as? GroupEntity)?.gid ?? "?"
            let names = change.properties.filter { change.kind == .update || !HookScript.hasDefault.contains($0) }
            var text = "\(change.kind) \(key) \(names.joined(separator: " "))"
            if let contact = byKey[change.object.objectID], contact.kind != .insert {
                let was = (contact.previous(\.name) ?? "?", contact.previous(\.group)?.gid ?? "nothing")
                text += ", was \(was.0) in \(was.1)"
            }
            return text
        }
        calls.withLock { $0.append(got) }
        let gone = contacts.filter { $0.kind == .delete }.map(\.object.name)
        lastNames.withLock { $0 += gone }
        let hook = hook.withLock { $0 }
        try hook(changes, context)
    }

    func takeCalls() -> [[String]] {
        calls.withLock { calls in
            defer { calls = [] }
            return calls
        }
    }

    func takeLastNames() -> [String] { lastNames.withLock { $0 } }
}

class ScriptedSource: MemberSource, SaveCompleting {
    let script = HookScript()

    nonisolated func willSave(_ changes: PendingChanges, in context: PrivateContext) throws {
        try script.run(changes, context)
    }
}

final class OverridingSource: ScriptedSource {
    nonisolated override func willSave(_ changes: PendingChanges, in context: PrivateContext) throws {
        try super.willSave(changes, in: context)
        for change in try changes.of(ContactEntity.self) { change.object.note = "by the subclass" }
    }
}

final class ScriptedContacts: DataSource<any Sendable>, SaveCompleting {
    let script = HookScript()

    override class var entities: [ManagedObject.Type] { [ContactEntity.self] }

    nonisolated func willSave(_ changes: PendingChanges, in context: PrivateContext) throws {
        try script.run(changes, context)
    }
}

/// Counts the messages of each tag.
final class TaggedSource: DataSource<any Sendable>, SaveCompleting {
    override class var entities: [ManagedObject.Type] { [MailTag.self, MailMessage.self] }

    nonisolated func willSave(_ changes: PendingChanges, in context: PrivateContext) throws {
        for tag in try changes.owners(of: \MailTag.messages) { tag.weight = Double(tag.messages.count) }
    }
}
