internal import ManagedModel

extension MigrationPlanner {
    mutating func planAttributes() {
        for index in plan.entities.indices {
            guard let oldEntity = old.lookup.entities[plan.entities[index].oldName],
                let newEntity = new.lookup.entities[plan.entities[index].newName]
            else { continue }
            planAttributes(index, oldEntity, newEntity)
        }
        // Keep each error only once.
        var seen: Set<String> = []
        plan.obstacles = plan.obstacles.filter { seen.insert($0).inserted }
    }

    private mutating func planAttributes(_ index: Int, _ oldEntity: EntityDescription, _ newEntity: EntityDescription) {
        let oldLeaves = old.leaves(of: oldEntity)
        let newLeaves = new.leaves(of: newEntity)
        let matching = NameMatching(
            from: oldLeaves.map(\.named), to: new.namedLeaves(of: newEntity, since: old, oldNames),
            known: earlier?.leafNames(in: newEntity.name))
        addObstacles(
            of: matching,
            newLeaves.map {
                ("\(newEntity.name).\($0.path)", $0.named.identifier?.joined(separator: "."))
            }, "attribute")
        let oldKinds = old.kinds(of: oldEntity)
        let newKinds = new.kinds(of: newEntity)
        let pairs = newLeaves.enumerated().map { position, leaf in
            LeafPair(new: leaf, old: matching.pairs[position].map { oldLeaves[$0] })
        }
        for pair in pairs {
            plan.entities[index].attributes[pair.new.column] = source(
                of: pair, among: pairs, from: oldEntity, to: newEntity)
        }
        for leaf in newLeaves { planRecalculation(leaf, index, from: oldLeaves, newLeaves) }
        for (name, kind) in newKinds.sorted(by: { [$0.key].precedes([$1.key]) }) {
            guard let oldKind = oldKinds[name], oldKind != kind else { continue }
            plan.obstacles.append(
                "\(newEntity.name).\(name): \(oldKind) -> \(kind) cannot be carried over. Give the new property another name."
            )
        }
    }

    /// Plans to derive an attribute again if the migration changes the attribute that it is derived from. The derivation itself
    /// can be unchanged.
    private mutating func planRecalculation(
        _ leaf: MigrationLeaf, _ index: Int, from oldLeaves: [MigrationLeaf], _ leaves: [MigrationLeaf]
    ) {
        guard let expression = leaf.attribute.derivationExpression, let source = derivation(expression, leaves),
            case .column = plan.entities[index].attributes[leaf.column]
        else { return }
        let base: Int
        switch source {
        case .copy(let column), .transformed(let column, _): base = column
        default: return
        }
        let before: Int? =
            switch derivation(expression, oldLeaves) {
            case .copy(let column), .transformed(let column, _): column
            default: nil
            }
        if case .column(let column) = plan.entities[index].attributes[base], column == before { return }
        plan.entities[index].attributes[leaf.column] = source
    }

    private mutating func source(
        of pair: LeafPair, among pairs: [LeafPair], from oldEntity: EntityDescription, to newEntity: EntityDescription
    ) -> AttributeSource {
        let (leaf, match) = (pair.new, pair.old)
        let path = "\(newEntity.name).\(leaf.path)"
        if let expression = leaf.attribute.derivationExpression,
            match?.attribute.derivationExpression != expression || match?.attribute.type != leaf.attribute.type
        {
            if let source = derivation(expression, pairs.map(\.new)) { return source }
            if match != nil {
                plan.obstacles.append(
                    "\(path): the derivation \(expression) cannot be computed from a row. Keep the old derivation, or give the "
                        + "attribute another name.")
            }
            // The migration stores no value. A save stores none either, because an attribute that is derived along a
            // relationship is calculated at each read.
            return .nothing
        }
        guard let match else {
            return defaultOfPart(leaf, of: newEntity, among: pairs) ?? added(leaf, path, from: oldEntity, to: newEntity)
        }
        guard let widening = widening(of: match, to: leaf, path, oldEntity) else {
            plan.obstacles.append(
                "\(path): \(match.attribute.type.rawValue) -> \(leaf.attribute.type.rawValue) cannot be carried over. "
                    + "Keep the type, or give the new attribute another name.")
            return .nothing
        }
        let isUnchanged = widening == .unchanged
        let source = isUnchanged ? AttributeSource.column(match.column) : .widened(match.column, widening)
        guard isRequired(leaf), !isRequired(match) else { return source }
        let initialValue = leaf.attribute.defaultValue == nil ? initialValue(of: leaf, newEntity) : .shared
        if initialValue == .shared {
            return isUnchanged ? .columnOrDefault(match.column) : .widenedOrDefault(match.column, widening)
        }
        plan.conditions.append(
            MigrationCondition(
                kind: .hasValues(oldEntity.name, match.column),
                problem: initialValue == .distinct
                    ? "\(path): the attribute is required now, but some objects have no value, and \(Self.distinctValues) "
                        + "Keep the attribute optional, or give it a literal as its default value."
                    : "\(path): the attribute is required now and has no default value, but some objects have no value. "
                        + "Give the attribute a default value."))
        return source
    }

    /// Returns the conversion for the values of an old attribute. Returns nil if the values cannot be converted. If the
    /// new type stores numbers in another way, adds the condition that the conversion is exact.
    private mutating func widening(
        of old: MigrationLeaf, to new: MigrationLeaf, _ path: String, _ oldEntity: EntityDescription
    ) -> NumberWidening? {
        let (oldType, newType) = (old.attribute.type, new.attribute.type)
        if oldType == newType { return .unchanged }
        guard let widening = NumberWidening(from: oldType, to: newType) else { return nil }
        if widening == .unchanged { return widening }
        let column = ExactColumn(
            entity: oldEntity.name, column: old.column, widening: widening, path: path, oldType: oldType,
            newType: newType)
        plan.conditions.append(
            MigrationCondition(
                kind: .isExact(column), problem: column.problem,
                isExpected: widening.canStoreEveryValue(of: oldType)))
        return widening
    }

    /// Returns the source of a new part of an optional composite. In each row whose composite is not nil, the part gets its
    /// default value. A required part without a default value gets its initial value.
    ///
    /// Only the description of the part has the default value. The leaf has none and is optional. Otherwise each new object
    /// would have the composite.
    ///
    /// - Returns: The source; nil if the leaf is not such a part, if the whole composite is new, or if the part has no value.
    private func defaultOfPart(
        _ leaf: MigrationLeaf, of entity: EntityDescription, among pairs: [LeafPair]
    ) -> AttributeSource? {
        guard let (part, composite) = new.part(of: entity, at: leaf.named.name) else { return nil }
        let columns = pairs.filter { $0.new.named.name.starts(with: composite) }.compactMap { $0.old?.column }
        if columns.isEmpty { return nil }
        let isRequired = !part.isOptional && part.derivationExpression == nil
        guard part.defaultValue != nil || isRequired && initialValue(of: leaf, entity) == .shared else { return nil }
        return .defaultOfPart(part, columns: columns)
    }

    private mutating func added(
        _ leaf: MigrationLeaf, _ path: String, from oldEntity: EntityDescription, to newEntity: EntityDescription
    ) -> AttributeSource {
        if leaf.attribute.defaultValue != nil { return .defaultValue }
        guard isRequired(leaf) else { return .nothing }
        let initialValue = initialValue(of: leaf, newEntity)
        if initialValue == .shared { return .defaultValue }
        plan.conditions.append(
            MigrationCondition(
                kind: .isEmpty(oldEntity.name),
                problem: initialValue == .distinct
                    ? "\(path): the attribute is new and required, but \(Self.distinctValues) Make the attribute optional, or "
                        + "give it a literal as its default value."
                    : "\(path): the attribute is new and required, and has no default value for the existing objects. "
                        + "Give the attribute a default value, or make the attribute optional."))
        return .nothing
    }

    /// The reason why a migration cannot use an initial value.
    private static let distinctValues =
        "its initial value is another value in each new object, so the existing objects cannot all get one value."

    /// Returns how the migration can use the initial value that the class gives to new objects; nil if there is none.
    private func initialValue(of leaf: MigrationLeaf, _ entity: EntityDescription) -> InitialValue? {
        if let found = initialValue(entity.name, leaf.column) { return found }
        guard new.isEvaluated(leaf.named.name, of: entity) else { return nil }
        // The value is not known. A UUID is most likely a new one for each object.
        return leaf.attribute.type == .uuid ? .distinct : .shared
    }

    private func isRequired(_ leaf: MigrationLeaf) -> Bool {
        !leaf.attribute.isOptional && leaf.attribute.derivationExpression == nil
    }

    /// Returns the source of a derived attribute. Returns nil if the derivation needs more than one row.
    private func derivation(_ expression: String, _ leaves: [MigrationLeaf]) -> AttributeSource? {
        func column(_ path: [String], after steps: Int = 0) -> Int? {
            // In the model of an old store, derivations can form a cycle, so limit the number of steps.
            guard steps <= leaves.count else { return nil }
            guard let leaf = leaves.first(where: { $0.path == path.joined(separator: ".") }) else { return nil }
            guard let expression = leaf.attribute.derivationExpression else { return leaf.column }
            // For a copy of a copy, find the source column of the first copy. A transformed string has no source column.
            guard case .path(let path) = DerivationExpression(expression) else { return nil }
            return column(path, after: steps + 1)
        }
        return switch DerivationExpression(expression) {
        case .now: .now
        case .path(let path): column(path).map { .copy($0) }
        case .transformed(let path, let change): column(path).map { .transformed($0, change) }
        case nil: nil
        }
    }
}

extension MigrationSide {
    /// Returns the kind of each stored property of an entity, by the name of the property.
    fileprivate func kinds(of entity: EntityDescription) -> [String: String] {
        var kinds: [String: String] = [:]
        for owner in lookup.lineage(of: entity) {
            for attribute in owner.attributes where !attribute.isTransient {
                // A model that was read from its canonical form has leaves instead of composites.
                let path = attribute.name.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
                let isComposite = attribute.type == .composite || path.count > 1
                kinds[path.first.map(String.init) ?? ""] = isComposite ? "composite" : "attribute"
            }
            for relationship in owner.relationships where !relationship.isTransient {
                kinds[relationship.name] = "relationship"
            }
        }
        return kinds
    }
}

/// A leaf of the new model, with the leaf of the old model that becomes it; nil if the leaf is new.
private struct LeafPair {
    let new: MigrationLeaf
    let old: MigrationLeaf?
}
