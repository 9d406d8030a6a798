internal import ManagedModel

extension ModelBuilder {
    mutating func fetchedProperty(
        _ element: MarkupElement, in owner: String
    ) throws(ModelReaderError) -> FetchedPropertyDescription {
        let name = try required("name", of: element)
        lines.note(element.line, of: name, in: owner)
        guard let request = element.children(named: "fetchRequest").first else {
            throw ModelReaderError(
                .missingName, file: file, line: element.line,
                "The fetched property \(owner).\(name) has no fetch request. Add a fetch request, or remove the property."
            )
        }
        return FetchedPropertyDescription(
            name: name, isOptional: flag("optional", of: element), fetchRequest: try fetchRequest(request),
            userInfo: userInfo(of: element))
    }

    /// Absent flags have the defaults of the run time, where the result type determines two of them.
    mutating func fetchRequest(_ element: MarkupElement) throws(ModelReaderError) -> FetchRequestTemplate {
        let name = try required("name", of: element)
        let resultType = resultType(of: element)
        return FetchRequestTemplate(
            name: name,
            entityName: try required("entity", of: element),
            predicateFormat: element.filled("predicateString"),
            resultType: resultType,
            fetchLimit: try count("fetchLimit", of: element) ?? 0,
            includesSubentities: flag("includeSubentities", of: element, absent: true))
    }

    private mutating func resultType(of element: MarkupElement) -> FetchRequestTemplate.ResultType {
        guard let text = element.filled("resultType") else { return .objects }
        if let type = Int(text).flatMap(FetchRequestTemplate.ResultType.init) { return type }
        log.warn(element.line, "resultType=\"\(text)\" is unknown. Objects are fetched.")
        return .objects
    }
}
