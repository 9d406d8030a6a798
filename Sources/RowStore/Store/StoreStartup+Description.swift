internal import Foundation

extension StoreStartup: CustomStringConvertible {
    /// The reason, the dropped objects, the backups and the migration, one to a line. Lines without content are left out.
    ///
    /// ```
    /// reason: modelChanged(ContactEntity)
    ///   dropped: 12 objects
    ///   backup: /data/contacts.sqlite.standard-backup-20260301T120000Z
    /// ```
    public var description: String {
        var lines: [String] = []
        if isReset || rowsDropped > 0 || dropped != Dropped() {
            lines.append("dropped: \(rowsDropped.objects)\(dropped.details)")
        }
        if let entitiesReset { lines.append("only of these entities: \(entitiesReset.joined(separator: ", "))") }
        if let countFailure { lines.append("more objects could not be counted: \(countFailure)") }
        if let backup { lines.append("backup: \(backup.isFileURL ? backup.path : backup.absoluteString)") }
        lines += removedBackups.map { "removed backup: \($0.path)" }
        if let migration { lines.append("migration: \(migration)") }
        if let fallback { lines.append("policy not followed: \(fallback)") }
        return (["reason: \(reason)"] + lines).joined(separator: "\n").replacing("\n", with: "\n  ")
    }
}

extension StoreStartup.Dropped: CustomStringConvertible {
    /// The numbers of dropped objects and links, such as `3 objects (Note 3), 1 link (Note.folder 1)`.
    public var description: String { objectCount.objects + details }

    /// The objects of each entity in parentheses, followed by the links.
    fileprivate var details: String {
        func list(_ counts: [String: Int]) -> String {
            let names = counts.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }
            return names.isEmpty ? "" : " (\(names.joined(separator: ", ")))"
        }
        let linkCount = links.values.reduce(0, +)
        let rest = links.isEmpty ? "" : ", \(linkCount) \(linkCount == 1 ? "link" : "links")\(list(links))"
        return list(objects) + rest
    }
}

extension MigrationReport: CustomStringConvertible {
    /// The number of objects that were carried over, followed by the changes, the losses and the unmet requirements, one to a
    /// line.
    ///
    /// ```
    /// 120 objects carried over
    ///   changed: ContactEntity.phone: renamed from mobile
    ///   lost: ContactEntity.fax: the values (String, optional)
    /// ```
    public var description: String {
        let lines =
            changes.map { "changed: \($0)" } + losses.map { "lost: \($0)" } + unmetRequirements.map { "unmet: \($0)" }
        return (["\(rowsCarried.objects) carried over"] + lines).joined(separator: "\n  ")
    }
}

extension Int {
    /// The number of objects in words: `1 object`, `2 objects`.
    package var objects: String { self == 1 ? "1 object" : "\(self) objects" }
}
