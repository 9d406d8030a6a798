internal import ManagedModel

/// The plan for the function of a fetch request.
struct FetchRequestPlan {
    var template: FetchRequestTemplate
    /// The identifier, not yet escaped.
    var name: String
    /// A parameter for each variable of the format, in the order of the format.
    var parameters: [Parameter] = []
    /// The reason why the fetch request has no function; nil if it has one.
    var omissionReason: String?

    struct Parameter {
        /// The variable, without its `$`.
        var variable: String
        /// The identifier, not yet escaped.
        var name: String
    }
}

extension ModelPlan {
    /// The plans of all fetch requests in the order of the model, by the name of the entity.
    ///
    /// The functions' names are unique in the whole model, so that no subclass redeclares a name.
    func fetchRequestPlans() -> [String: [FetchRequestPlan]] {
        var scope = NameScope()
        let wanted = model.fetchRequests.map { request in
            "fetchRequest" + Identifier.upperCamelCase(request.name)
        }
        let names = scope.claim(each: wanted.map { (name: $0, isExact: false) })
        var plans: [String: [FetchRequestPlan]] = [:]
        for (request, name) in zip(model.fetchRequests, names) {
            plans[request.entityName, default: []].append(Self.fetchRequestPlan(request, named: name))
        }
        return plans
    }

    private static func fetchRequestPlan(_ request: FetchRequestTemplate, named name: String) -> FetchRequestPlan {
        var plan = FetchRequestPlan(template: request, name: name)
        let format = FormatOutline(request.predicateFormat ?? "")
        if let syntaxError = format.syntaxError {
            plan.omissionReason = syntaxError
        } else {
            var scope = NameScope()
            plan.parameters = format.variables.map {
                .init(variable: $0, name: scope.claim(ReservedNames.type(Identifier.sanitised($0))))
            }
        }
        return plan
    }
}
