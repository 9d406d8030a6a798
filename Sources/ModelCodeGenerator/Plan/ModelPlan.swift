internal import ManagedModel

/// Everything that is generated for a model, decided but not yet written.
struct ModelPlan {
    let model: ManagedObjectModel
    let names: TypeNames
    let types: PropertyTypes
    private(set) var entities: [EntityPlan] = []
    private(set) var composites: [CompositePlan] = []
    private(set) var fetchRequests: [String: [FetchRequestPlan]] = [:]

    init(for model: ManagedObjectModel) {
        self.model = model
        names = TypeNames(of: model)
        types = PropertyTypes(model: model, names: names)
        entities = model.entities.map(entityPlan)
        composites = compositePlans(for: entities)
        fetchRequests = fetchRequestPlans()
        omitRepeatedExtensions()
    }

    /// The properties of some attributes; `column` answers the index of the attribute at a position in the list.
    func propertyList(
        of attributes: [AttributeDescription], in scope: inout NameScope, column: (Int) -> Int
    ) -> PropertyList {
        var list = PropertyList()
        var typed: [(index: Int, type: PropertyType)] = []
        for (index, attribute) in attributes.enumerated() {
            switch types.type(of: attribute) {
            case .property(let type): typed.append((index, type))
            case .none(let reason): list.omissions.append(.init(attributeName: attribute.name, reason: reason))
            }
        }
        let wanted = typed.map { ReservedNames.member(Identifier.sanitised(attributes[$0.index].name)) }
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

    /// Two entities may share a class that the author writes; it can be extended only once.
    private mutating func omitRepeatedExtensions() {
        var extended: Set<String> = []
        for index in entities.indices where entities[index].generation == .category {
            guard let name = entities[index].className, !extended.insert(name).inserted else { continue }
            entities[index].className = nil
        }
    }
}
