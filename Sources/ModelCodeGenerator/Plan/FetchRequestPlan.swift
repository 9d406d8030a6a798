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
            plans[request.entityName, default: []].append(Self.fetchRequestPlan(request, named: name))
        }
        return plans
    }

    private static func fetchRequestPlan(_ request: FetchRequestTemplate, named name: String) -> FetchRequestPlan {
        var plan = FetchRequestPlan(template: request, name: name)
        let format = FormatOutline(request.predicateFormat ?? "")
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

/// What can be found in a predicate format without its grammar: its variables, and whether brackets and quotes match.
struct FormatOutline {
    /// Without the `$`, each once, in the order of the format.
    private(set) var variables: [String] = []
    /// Why the format is invalid.
    private(set) var flaw: String?

    init(_ format: String) {
        var rest = format.unicodeScalars[...]
        var open: [Unicode.Scalar] = []
        while let scalar = rest.popFirst() {
            switch scalar {
            case "'", "\"":
                if !Self.skipText(&rest, quote: scalar) { flaw = flaw ?? "a quote in its predicate is not closed" }
            case "(", "{", "[": open.append(scalar)
            case ")", "}", "]":
                if open.popLast() != Self.opening[scalar] {
                    flaw = flaw ?? "its predicate has a \(scalar) without an opening bracket"
                }
            case "$":
                let name = rest.prefix { $0.properties.isXIDContinue }
                rest = rest.dropFirst(name.count)
                if name.isEmpty { flaw = flaw ?? "a $ in its predicate has no name after it" }
                if !variables.contains(String(name)) { variables.append(String(name)) }
            case "%":
                flaw =
                    flaw ?? (Self.isArgument(rest) ? "its predicate has an argument; only $VARIABLES have values" : nil)
            default: break
            }
        }
        if let last = open.last { flaw = flaw ?? "\(last) in its predicate is not closed" }
    }

    private static let opening: [Unicode.Scalar: Unicode.Scalar] = [")": "(", "}": "{", "]": "["]

    /// Skips a string in quotes; false if it has no end.
    private static func skipText(_ rest: inout Substring.UnicodeScalarView, quote: Unicode.Scalar) -> Bool {
        while let scalar = rest.popFirst() {
            if scalar == quote { return true }
            if scalar == "\\" { _ = rest.popFirst() }
        }
        return false
    }

    private static func isArgument(_ rest: Substring.UnicodeScalarView) -> Bool {
        rest.first.map { $0 == "@" || $0 == "K" } ?? false
    }
}
