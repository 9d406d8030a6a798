internal import ManagedModel

extension MigrationPlanner {
    /// Constraints that did not hold before must hold for the rows that are carried over.
    mutating func planConstraints() {
        let migrations = Dictionary(plan.entities.map { ($0.newName, $0) }) { first, _ in first }
        for entity in new.model.entities.sorted(by: { [$0.name].precedes([$1.name]) }) {
            let family = new.model.family(ofEntityNamed: entity.name).filter { migrations[$0.name] != nil }
            for constraint in entity.uniquenessConstraints where !constraint.isEmpty {
                let columns = family.reduce(into: [:]) { $0[$1.name] = positions(constraint, of: $1) }
                // The links of a one-to-one relationship may be in other rows, and are checked separately.
                if columns.isEmpty || columns.values.contains(where: { $0.count < constraint.count }) { continue }
                if held(columns, migrations) { continue }
                plan.conditions.append(
                    MigrationCondition(
                        kind: .isUnique(columns),
                        complaint: "\(entity.name): objects have the same \(constraint.joined(separator: ", ")), which "
                            + "must be unique now. Remove the constraint, or change these objects first."))
            }
        }
    }

    private func positions(_ constraint: [String], of entity: EntityDescription) -> [Int] {
        let columns = new.columns(of: entity)
        return constraint.compactMap { name in columns.firstIndex { $0.name == name && $0.isStored } }
    }

    /// Whether a constraint of the old model covered the same values of the same rows.
    private func held(_ columns: [String: [Int]], _ migrations: [String: EntityMigration]) -> Bool {
        var before: [String: Set<String>] = [:]
        for (name, positions) in columns {
            guard let migration = migrations[name], let oldEntity = old.lookup.entities[migration.oldName] else {
                return false
            }
            let oldColumns = old.columns(of: oldEntity)
            var names: Set<String> = []
            for position in positions {
                switch migration.attributes[position] {
                // Different numbers stay different in a wider type.
                case .column(let source), .widened(let source, _): names.insert(oldColumns[source].name)
                default: return false
                }
            }
            before[migration.oldName] = names
        }
        return old.model.entities.contains { owner in
            let family = Set(old.model.family(ofEntityNamed: owner.name).map(\.name))
            return before.keys.allSatisfy(family.contains)
                && owner.uniquenessConstraints.contains { constraint in
                    before.values.allSatisfy { $0.isSuperset(of: constraint) }
                }
        }
    }
}
