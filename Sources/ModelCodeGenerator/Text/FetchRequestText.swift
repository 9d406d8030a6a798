internal import ManagedModel

/// Writes an extension of an entity's class with a function for each of its fetch requests.
struct FetchRequestText {
    let className: String
    let plans: [FetchRequestPlan]
    let access: AccessLevel

    func write(to text: inout SourceText) {
        if plans.allSatisfy({ $0.omission != nil }) { return plans.forEach { writeOmission($0, to: &text) } }
        text.block("nonisolated extension \(Identifier.escaped(className)) {") { text in
            for (index, plan) in plans.enumerated() {
                if index > 0 { text.line() }
                if plan.omission != nil { writeOmission(plan, to: &text) } else { writeFunction(plan, to: &text) }
            }
        }
    }

    private func writeOmission(_ plan: FetchRequestPlan, to text: inout SourceText) {
        let name = SourceText.comment(plan.template.name)
        text.line("// The fetch request \(name) has no function: \(plan.omission ?? "").")
    }

    private func writeFunction(_ plan: FetchRequestPlan, to text: inout SourceText) {
        let template = plan.template
        let what = template.predicateFormat.map { "`\($0)`" } ?? "all objects of `\(template.entityName)`"
        text.documentation(["The fetch request `\(template.name)`: \(what)."])
        let parameters = plan.parameters.map { "\(Identifier.escaped($0.name)): (any Sendable)?" }
        let result = "FetchRequest<\(Identifier.escaped(className))>"
        let throwing = template.predicateFormat == nil ? "" : " throws"
        let name = "\(access.prefix)static func \(Identifier.escaped(plan.name))"
        text.block("\(name)(\(parameters.joined(separator: ", ")))\(throwing) -> \(result) {") { text in
            if template.includesSubentities { return text.line(request(plan)) }
            text.line("var request = \(request(plan))")
            text.line("request.includesSubentities = false")
            text.line("return request")
        }
    }

    private func request(_ plan: FetchRequestPlan) -> String {
        var arguments = ["\(Identifier.escaped(className)).self"]
        if let format = plan.template.predicateFormat {
            arguments.append("where: \(predicate(format, plan.parameters))")
        }
        if plan.template.fetchLimit > 0 { arguments.append("limit: \(plan.template.fetchLimit)") }
        let call = "FetchRequest(\(arguments.joined(separator: ", ")))"
        return plan.template.predicateFormat == nil ? call : "try " + call
    }

    private func predicate(_ format: String, _ parameters: [FetchRequestPlan.Parameter]) -> String {
        let predicate = "FetchPredicate(format: \(StringLiteral.of(format)))"
        if parameters.isEmpty { return predicate }
        let values = parameters.map { "\(StringLiteral.of($0.variable)): \(Identifier.escaped($0.name))" }
        return "\(predicate).substituting([\(values.joined(separator: ", "))])"
    }
}
