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
    /// Likely errors in the predicate of a function.
    var warnings: [String] = []

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
            let names = propertyNames(ofEntityNamed: request.entityName)
            plans[request.entityName, default: []].append(Self.fetchRequestPlan(request, named: name, names))
        }
        return plans
    }

    /// The possible first names of a predicate's key paths: the property names of the entity, its ancestors and its
    /// sub-entities. A fetch can return objects of sub-entities.
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
        plan.warnings = format.names.filter { !properties.contains($0) }.map {
            "its predicate names \($0), which is not a property of \(request.entityName)"
        }
        if let likelyError = format.likelyError { plan.warnings.append(likelyError) }
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

/// A predicate format, checked without its grammar. The outline has the variables and the first names of key paths. The
/// outline knows whether brackets and quotes match, and whether values and operators alternate.
struct FormatOutline {
    /// Without the `$` and without duplicates, in the order of the format. The variable of a SUBQUERY is left out.
    private(set) var variables: [String] = []
    /// The first name of each key path that begins at the object itself. Without duplicates, in the order of the format.
    private(set) var names: [String] = []
    /// The reason why the format is invalid.
    private(set) var syntaxError: String?
    /// The reason why the format is probably invalid.
    private(set) var likelyError: String?

    private var tokens: [FormatToken] = []
    /// The open SUBQUERYs: the depth of their parentheses, and their variables once they are known.
    private var subqueries: [(depth: Int, variable: String?)] = []

    init(_ format: String) {
        var scanner = FormatScanner(format)
        while let token = scanner.next() { tokens.append(token) }
        syntaxError = scanner.syntaxError
        findNames()
        if syntaxError == nil { likelyError = findLikelyError() }
    }

    private mutating func findNames() {
        var depth = 0
        for (index, token) in tokens.enumerated() {
            switch token {
            case .open:
                depth += 1
                if index > 0, case .word(let word) = tokens[index - 1], word.uppercased() == "SUBQUERY" {
                    subqueries.append((depth, nil))
                }
            case .close:
                if subqueries.last?.depth == depth { subqueries.removeLast() }
                depth -= 1
            case .variable(let name):
                if let last = subqueries.indices.last, subqueries[last].variable == nil,
                    subqueries[last].depth == depth,
                    index > 0, tokens[index - 1] == .comma
                {
                    subqueries[last].variable = name
                } else if !subqueries.contains(where: { $0.variable == name }), !variables.contains(name) {
                    variables.append(name)
                }
            case .word(let word):
                let isCall = index + 1 < tokens.count && tokens[index + 1] == .open
                // In the predicate of a subquery, only key paths that begin with the subquery's variable are certain.
                guard !isCall, subqueries.last?.variable == nil, !FormatToken.isReserved(word), !names.contains(word)
                else { continue }
                names.append(word)
            case .name(let name):
                if subqueries.last?.variable == nil, !names.contains(name) { names.append(name) }
            case .comma, .value, .relation, .arithmetic: continue
            }
        }
    }

    /// Finds two values or two operators in a row, or an operator at the beginning or end.
    private func findLikelyError() -> String? {
        var before: FormatToken.Role?
        for (index, token) in tokens.enumerated() {
            let isCall = index + 1 < tokens.count && tokens[index + 1] == .open
            let role = token.role(isCall: isCall)
            switch (before, role) {
            case (.value, .value), (.value, .opening):
                return "its predicate has two values without an operator between them"
            case (.relation, .relation), (.opening, .relation):
                return "an operator in its predicate has no value before it"
            case (.relation, .closing): return "an operator in its predicate has no value after it"
            case (nil, .relation): return "its predicate begins with an operator"
            default: break
            }
            // A name before parentheses names a function.
            if case .call = role { before = nil } else { before = role == .closing ? .value : role }
            if role == .separator || role == .prefix { before = .separator }
        }
        return before == .relation ? "its predicate ends with an operator" : nil
    }
}
