import CoreDataSource

struct Group: Sendable {
    var gid: String
    var name: String
}

/// The groups. A value and its object have one key each, so adding, deleting and syncing follow from it.
final class GroupDataSource: KeyedDataSource<Group, GroupEntity> {
    nonisolated override class var key: ObjectKey<Group, GroupEntity> { ObjectKey(\.gid, \.gid) }

    nonisolated override func update(_ entity: GroupEntity, from group: Group) { entity.name = group.name }
}
