internal import ManagedModel

/// The plan for a fetch request's function.
struct FetchRequestPlan {
    var template: FetchRequestTemplate
    /// The identifier, not yet escaped.
    var name: String
    /// A parameter for each variable of the predicate, in the order of the predicate format.
    var parameters: [Parameter] = []
    /// The reason why the fetch request has no function; nil if the fetch request has a function.
    var omissionReason: String?

    struct Parameter {
        /// The variable without the `$`.
        var variable: String
        /// The identifier, not yet escaped.
        var name: String
    }
}

extension ModelPlan {
    /// Plans the functions of all fetch requests. The result has a list for each entity name, in the order of the model.
    ///
    /// The names of the functions are unique in the model, so that no subclass redeclares a function.
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
                .init(variable: $0, name: scope.claim(ReservedNames.type(Identifier.sanitized($0))))
            }
        }
        return plan
    }
}
