public import ManagedModel

/// The layouts of all entities in a model, in the order of their names.
///
/// The index of a layout identifies its entity. The layouts of entities are followed by the layouts of many-to-many links.
/// Links are stored in rows, like objects, but are not objects.
public final class ModelLayout: Sendable {
    /// The model.
    public let model: ManagedObjectModel
    /// The layouts of all entities, including abstract entities, followed by the layouts of links.
    public let entities: [EntityLayout]
    /// Receives reports of stored values that do not have their attribute's type.
    package let damage = DamagedValues()
    /// Returns the row of a new object of an entity, with only the values that its class evaluates for each new object; nil if
    /// there is no class. The parts of optional composites have their values, too, as if no composite were nil. Called in a
    /// migration, on the thread that opens the store.
    package let initialRow: @Sendable (EntityLayout) -> RowSnapshot?
    private let indexesByName: [String: Int]

    /// Lays out a model.
    ///
    /// ```swift
    /// let layout = ModelLayout(.contacts)
    /// print(layout.entities.map(\.name))
    /// ```
    ///
    /// - Parameter model: A model that has passed `validate()`. Its names are unique and its references are valid.
    public convenience init(_ model: ManagedObjectModel) {
        self.init(model, format: ManagedObjectModel.storeFormat)
    }

    package convenience init(_ model: ManagedObjectModel, format: Int64) {
        self.init(model, format: format) { _ in nil }
    }

    /// - Parameters:
    ///   - format: The format of the store. The first format has no rows for links.
    ///   - initialRow: The value of ``initialRow``.
    package init(
        _ model: ManagedObjectModel, format: Int64 = ManagedObjectModel.storeFormat,
        initialRow: @escaping @Sendable (EntityLayout) -> RowSnapshot?
    ) {
        self.model = model
        self.initialRow = initialRow
        let builder = LayoutBuilder(model, format, damage)
        indexesByName = builder.numbers
        entities = builder.entities()
    }

    /// Returns the layout of the entity with the name; nil if there is none. Links cannot be found by name.
    ///
    /// ```swift
    /// let contacts = layout.entity(named: "ContactEntity")
    /// ```
    public func entity(named name: String) -> EntityLayout? {
        indexesByName[name].map { entities[$0] }
    }

    /// Returns the indexes of the entities whose objects change when a row of the layout changes. For an entity, this is the
    /// entity itself. For links, these are the possible entities of the objects at both ends, because an app knows no entity of
    /// links.
    package func objectEntities(_ index: Int) -> [Int] {
        guard let (source, relationship) = relationship(ofLinks: entities[index]) else { return [index] }
        return source.concreteFamily + relationship.destinationFamily
    }
}

/// Makes the layouts of a model.
private struct LayoutBuilder {
    let model: ManagedObjectModel
    let format: Int64
    let damage: DamagedValues
    private let lookup: ModelLookup
    /// The index of each entity, by its name.
    let numbers: [String: Int]
    /// The columns of each entity, by its name.
    private let columns: [String: [ColumnDescription]]
    /// The layouts of links, by the relationship that declares them.
    private let links: [RelationshipName: EntityLayout]

    init(_ model: ManagedObjectModel, _ format: Int64, _ damage: DamagedValues) {
        self.model = model
        self.format = format
        self.damage = damage
        lookup = ModelLookup(model)
        numbers = Dictionary(model.entities.enumerated().map { ($1.name, $0) }) { first, _ in first }
        columns = Dictionary(model.entities.map { ($0.name, model.columns(of: $0, format: format)) }) { first, _ in
            first
        }
        var links: [RelationshipName: EntityLayout] = [:]
        guard format != ManagedObjectModel.firstStoreFormat else {
            self.links = links
            return
        }
        for entity in model.entities {
            for relationship in entity.relationships.sorted(by: { $0.name < $1.name }) {
                let name = RelationshipName(entity: entity.name, name: relationship.name)
                guard model.linkStorage(of: name) == .pairs(name, isReversed: false) else { continue }
                links[name] = EntityLayout(
                    linksOf: name, model, relationship, index: model.entities.count + links.count, damage: damage)
            }
        }
        self.links = links
    }

    func entities() -> [EntityLayout] {
        model.entities.enumerated().map { layout($1, number: $0) } + links.values.sorted { $0.index < $1.index }
    }

    private func layout(_ entity: EntityDescription, number: Int) -> EntityLayout {
        let descriptions = columns[entity.name] ?? []
        let columns = descriptions.map(ColumnLayout.init)
        let positions = Dictionary(columns.enumerated().map { ($1.name, $0) }) { first, _ in first }
        let lineage = Array(model.lineage(of: entity).reversed())
        let constraints = lineage.flatMap { ancestor in
            uniqueNames(ancestor).compactMap { names -> (owner: Int, columns: [Int])? in
                let columns = names.compactMap { positions[$0] }
                // If the links of a one-to-one relationship are in other rows, this entity has no column for them, and the links
                // are unique anyway.
                guard !columns.isEmpty, columns.count == names.count else { return nil }
                return (numbers[ancestor.name] ?? number, columns)
            }
        }
        func stored(_ element: FetchIndexDescription.Element) -> IndexedColumn? {
            guard let column = positions[element.property], columns[column].isStored else { return nil }
            return IndexedColumn(column: column, isAscending: element.isAscending)
        }
        let indexes = lineage.flatMap(\.indexes)
            .map { $0.elements.prefix { stored($0) != nil }.compactMap(stored) }
            .filter { !$0.isEmpty }
        return EntityLayout(
            index: number, entity: entity, columns: columns, constraints: constraints.map(\.columns),
            constraintOwners: constraints.map(\.owner), concreteFamily: concreteFamily(entity.name),
            relationships: format == ManagedObjectModel.firstStoreFormat
                ? [] : lineage.flatMap { owner in owner.relationships.map { relationship($0, of: owner.name) } },
            indexes: indexes,
            indexedColumns: Set(
                constraints.compactMap(\.columns.first) + indexes.compactMap { $0.first?.column }
                    + descriptions.indices.filter { descriptions[$0].isIndexed && columns[$0].isStored }),
            firstColumns: [0] + lineage.dropLast().map { self.columns[$0.name]?.count ?? 0 }, damage: damage)
    }

    /// Returns the groups of columns whose values together must be unique. The groups come from the model's constraints, and
    /// from one-to-one relationships.
    private func uniqueNames(_ entity: EntityDescription) -> [[String]] {
        if format == ManagedObjectModel.firstStoreFormat { return entity.uniquenessConstraints }
        let single = entity.relationships.filter { relationship in
            let name = RelationshipName(entity: entity.name, name: relationship.name)
            return !relationship.isToMany && !relationship.isTransient && model.linkStorage(of: name) == .column
                && model.storedInverse(of: relationship)?.isToMany == false
        }
        return entity.uniquenessConstraints
            + single.map { [$0.name] }.filter { !entity.uniquenessConstraints.contains($0) }
    }

    private func concreteFamily(_ name: String) -> [Int] {
        lookup.family(ofEntityNamed: name).filter { !$0.isAbstract }.compactMap { numbers[$0.name] }
    }

    // MARK: Relationships

    private func relationship(_ relationship: RelationshipDescription, of owner: String) -> RelationshipLayout {
        let name = RelationshipName(entity: owner, name: relationship.name)
        return RelationshipLayout(
            path: name, description: relationship, destination: numbers[relationship.destinationName] ?? 0,
            destinationFamily: concreteFamily(relationship.destinationName), storage: storage(of: name),
            inverse: model.inverse(of: relationship))
    }

    private func storage(of name: RelationshipName) -> RelationshipLayout.Storage {
        switch model.linkStorage(of: name) {
        case .column: linkColumn(name).map { .column($0) } ?? .none
        case .inverseColumn(let inverse): linkColumn(inverse).map { .inverseColumn($0) } ?? .none
        case .pairs(let name, let isReversed):
            links[name].map { .pairs($0.pairColumns(isReversed: isReversed)) } ?? .none
        case .none: .none
        }
    }

    /// Returns the columns of a to-one relationship. Their indexes are the same in every sub-entity.
    private func linkColumn(_ name: RelationshipName) -> LinkColumns? {
        guard let names = columns[name.entity]?.map(\.name), let key = names.lastIndex(of: name.name) else {
            return nil
        }
        return LinkColumns(
            key: key, entity: names.lastIndex(of: "\(name.name).entity"),
            position: names.lastIndex(of: "\(name.name).position"))
    }
}

extension ColumnDescription {
    /// Whether the column has an index of its own. It has one if the model marks the attribute as indexed, or if the
    /// column has the keys of other rows. The index then finds the objects that link to an object.
    package var isIndexed: Bool {
        switch role {
        case .attribute(let attribute): attribute.isIndexed
        case .destinationKey: true
        case .destinationEntity, .position: false
        }
    }
}
