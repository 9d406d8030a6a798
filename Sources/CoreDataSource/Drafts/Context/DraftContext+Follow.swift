package import RowStore

/// Following other saves: an object that is not edited here has the same values as on main.
extension DraftContext: MainFollower {
    package func follow(_ saves: [ChangeSet], isReset: Bool, isStale: Bool, changesLinks: Bool) {
        if isReset { forgetSaved() }
        if changesLinks { related.removeAll() }
        for changes in saves {
            for entity in changes.entities { follow(entity, asOf: changes.number) }
        }
        if isStale { mustReload = true }
        reload()
    }

    private func follow(_ changes: EntityChanges, asOf number: Int64) {
        let binding = bindings[changes.entity]
        if !changes.deleted.isEmpty, !changed.isEmpty || !journal.isEmpty {
            entitiesWithGoneObjects.insert(changes.entity)
        }
        if binding.objects.count == 0 { return }
        for change in changes.updated { take(change.row, change.key, binding, asOf: number) }
        for change in changes.deleted { take(nil, change.key, binding, asOf: number) }
        // A deletion was taken back.
        for change in changes.inserted { take(change.row, change.key, binding, asOf: number) }
    }

    /// - Parameter isReload: Whether the row was reloaded because it is unknown what others have changed.
    private func take(
        _ row: RowSnapshot?, _ key: Int64, _ binding: EntityBinding, asOf number: Int64, isReload: Bool = false
    ) {
        guard let object = binding.objects[key], isReload ? number >= object.asOf : number > object.asOf else { return }
        switch object.state {
        case .saved where saving[key] == nil:
            object.asOf = number
            if let row { object.row = row } else { object.state = .gone }
            place(object, binding, key)
        case .saved, .edited, .deleted: missed[key] = .some(row)
        case .inserted, .gone: break
        }
    }

    /// The newest saved row that is known of an object; the inner optional is nil if the row is gone, the outer one if nothing is
    /// known that the object itself does not have.
    func newestRow(of object: ManagedObject) -> RowSnapshot?? {
        if let row = missed[object.key] { return row }
        switch object.state {
        case .inserted: return nil
        case .gone: return .some(nil)
        case .saved: return object.row
        case .edited, .deleted: return object.savedRow
        }
    }

    /// Gives an object that is not edited any more the newest saved values.
    func catchUp(_ object: ManagedObject) {
        guard object.state == .saved, saving[object.key] == nil, let row = missed.removeValue(forKey: object.key)
        else { return }
        if let row { object.row = row } else { object.state = .gone }
    }

    /// The store was reset, so its rows are gone.
    func forgetSaved() {
        related.removeAll()
        for binding in bindings {
            for object in binding.objects.objects where object.state == .saved {
                object.state = .gone
                binding.objects.remove(object.key)
            }
        }
    }

    /// Reloads the registered objects, if that is due. If the store cannot be read now, the next merge tries again.
    func reload() {
        guard mustReload else { return }
        related.removeAll()
        if !changed.isEmpty || !journal.isEmpty { entitiesWithGoneObjects = Set(bindings.indices) }
        for binding in bindings where binding.objects.count > 0 {
            binding.removeUnreferenced()
            let keys = binding.objects.objects.map(\.key)
            do throws(DataSourceError) {
                try source.forEachRow(entity: binding.layout.index, keys: keys) { key, row, asOf in
                    take(row, key, binding, asOf: asOf, isReload: true)
                }
            } catch {
                return
            }
        }
        mustReload = false
    }
}
