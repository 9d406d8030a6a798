internal import ManagedModel

/// The function to generate for a fetch request of the model.
struct FetchRequestPlan {
    var template: FetchRequestTemplate
    /// The identifier, not yet escaped.
    var name: String
    /// A parameter for each variable of the format, in the order of the format.
    var parameters: [Parameter] = []
    /// Why there is no function, if there is none.
    var omission: String?
    /// What is most likely wrong with the predicate, although there is a function.
    var doubts: [String] = []

    struct Parameter {
        /// The variable, without its `$`.
        var variable: String
        /// The identifier, not yet escaped.
        var name: String
    }
}

extension ModelPlan {
    /// The fetch requests of each entity that has generated code, by the name of the entity, in the order of the model.
    ///
    /// Their names are unique in the whole model, so that no subclass declares a name again.
    func fetchRequestPlans() -> [String: [FetchRequestPlan]] {
        var scope = NameScope()
        let wanted = model.fetchRequests.map { request in
            "fetchRequest" + Identifier.upperCamelCase(request.name)
        }
        let names = scope.claim(each: wanted.map { (name: $0, isExact: false) })
        var plans: [String: [FetchRequestPlan]] = [:]
        for (request, name) in zip(model.fetchRequests, names) {
            let names = propertyNames(ofEntityNamed: request.entityName)
            plans[request.entityName, default: []].append(Self.fetchRequestPlan(request, named: name, names))
        }
        return plans
    }

    /// The names that a predicate can begin a key path with: those of the entity, of those above it, and of those below it, which
    /// a fetch of it may return.
    private func propertyNames(ofEntityNamed name: String) -> Set<String> {
        guard let entity = model.entity(named: name) else { return [] }
        var names: Set<String> = []
        for entity in model.lineage(of: entity) + model.family(ofEntityNamed: name) {
            names.formUnion(entity.attributes.map(\.name))
            names.formUnion(entity.relationships.map(\.name))
            names.formUnion(entity.fetchedProperties.map(\.name))
        }
        return names
    }

    private static func fetchRequestPlan(
        _ request: FetchRequestTemplate, named name: String, _ properties: Set<String>
    ) -> FetchRequestPlan {
        var plan = FetchRequestPlan(template: request, name: name)
        let format = FormatOutline(request.predicateFormat ?? "")
        plan.doubts = format.names.filter { !properties.contains($0) }.map {
            "its predicate names \($0), which is no property of \(request.entityName)"
        }
        if let disorder = format.disorder { plan.doubts.append(disorder) }
        if let flaw = format.flaw {
            plan.omission = flaw
        } else {
            var scope = NameScope()
            plan.parameters = format.variables.map {
                .init(variable: $0, name: scope.claim(ReservedNames.type(Identifier.sanitised($0))))
            }
        }
        return plan
    }
}
