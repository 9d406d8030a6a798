internal import ManagedModel

/// The plan for the generated code of a model.
struct ModelPlan {
    let model: ManagedObjectModel
    let names: TypeNames
    let types: PropertyTypes
    /// The names of all classes and structs.
    let typeNames: Set<String>
    /// The entities that to-one relationships lead to.
    let destinations: Set<String>
    private(set) var entities: [EntityPlan] = []
    private(set) var composites: [CompositePlan] = []
    private(set) var fetchRequests: [String: [FetchRequestPlan]] = [:]
    /// Warnings for the author of the model, each in one or more sentences.
    private(set) var warnings: [String] = []

    init(for model: ManagedObjectModel) {
        self.model = model
        names = TypeNames(of: model)
        typeNames = names.all
        destinations = Set(
            model.entities.flatMap(\.relationships).filter { !$0.isToMany }.map(\.destinationName))
        warnings = names.warnings
        types = PropertyTypes(model: model, names: names)
        entities = model.entities.map(entityPlan)
        composites = compositePlans(for: entities)
        fetchRequests = fetchRequestPlans()
        omitRepeatedExtensions()
        warnings += refusedTypes
    }

    /// Warnings about attributes that have no property, because a property cannot have the type that the author chose.
    private var refusedTypes: [String] {
        let lists = entities.map { ($0.entity.name, $0.list) } + composites.map { ($0.composite.name, $0.list) }
        return lists.flatMap { name, list in
            list.omissions.filter(\.isOfChosenType).map { "\(name).\($0.propertyName) has no property: \($0.reason)." }
        }
    }

    /// - Parameter column: Returns the column index of an attribute. The argument is the attribute's position in the list.
    func propertyList(
        of attributes: [AttributeDescription], in scope: inout NameScope, column: (Int) -> Int
    ) -> PropertyList {
        var list = PropertyList()
        var typed: [(index: Int, type: PropertyType)] = []
        for (index, attribute) in attributes.enumerated() {
            switch types.type(of: attribute) {
            case .property(let type): typed.append((index, type))
            case .none(let reason):
                list.omissions.append(
                    .init(
                        propertyName: attribute.name, reason: reason,
                        isOfChosenType: attribute.userInfo[PropertyTypes.key] != nil))
            }
        }
        let wanted = typed.map { ReservedNames.member(Identifier.sanitized(attributes[$0.index].name)) }
        let claims = zip(typed, wanted).map { ($1, $1 == attributes[$0.index].name) }
        for ((index, type), name) in zip(typed, scope.claim(each: claims)) {
            let attribute = attributes[index]
            list.properties.append(
                PropertyPlan(
                    attributeName: attribute.name, name: name, type: type, column: column(index),
                    isReadOnly: attribute.derivationExpression != nil,
                    notes: PropertyPlan.notes(on: attribute, as: name, type: type)))
        }
        return list
    }

    /// Keeps at most one extension of each class. Entities can share a class that the author writes, but only one entity can
    /// extend the class: the entity with the name of the class, or otherwise the common ancestor of the entities.
    private mutating func omitRepeatedExtensions() {
        let extended = entities.indices.filter { entities[$0].generation == .category && entities[$0].className != nil }
        for (name, group) in Dictionary(grouping: extended, by: { entities[$0].className ?? "" }).sorted(by: {
            $0.key < $1.key
        })
        where group.count > 1 {
            let ancestor = model.commonAncestor(group.map { entities[$0].entity.name })
            let holder =
                group.first { entities[$0].entity.name == name } ?? group.first { entities[$0].entity.name == ancestor }
            let holderName = holder.map { entities[$0].entity.name }
            for index in group where index != holder {
                entities[index].className = nil
                entities[index].omissionReason =
                    "its class \(name) is "
                    + (holderName.map { "extended for the entity \($0)" } ?? "shared with other entities")
            }
            let owners = group.map { entities[$0].entity.name }.joined(separator: ", ")
            warnings.append(
                "The entities \(owners) have the same class \(name), but only one entity can extend the class. "
                    + (holderName.map { "The extension is for \($0)." } ?? "No extension is generated.")
                    + " Give each entity a class of its own.")
        }
    }
}
