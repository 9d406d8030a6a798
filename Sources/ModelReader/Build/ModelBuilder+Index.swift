internal import ManagedModel

extension ModelBuilder {
    /// The indexes of both forms. Old ones have no names and get one from their columns.
    mutating func indexes(of element: MarkupElement) throws(ModelReaderError) -> [FetchIndexDescription] {
        var indexes: [FetchIndexDescription] = []
        for child in element.children(named: "fetchIndex") {
            indexes.append(FetchIndexDescription(name: try required("name", of: child), elements: elements(of: child)))
        }
        var names = Set(indexes.map(\.name))
        var repetitions: [String: Int] = [:]
        for child in element.children(named: "compoundIndexes").flatMap({ $0.children(named: "compoundIndex") }) {
            var properties: [String] = []
            for part in child.children(named: "index") { properties.append(try required("value", of: part)) }
            let plainName = "by_" + properties.joined(separator: "_")
            var name = plainName
            while !names.insert(name).inserted {
                repetitions[plainName, default: 1] += 1
                name = "\(plainName)_\(repetitions[plainName, default: 1])"
            }
            indexes.append(
                FetchIndexDescription(name: name, elements: properties.map { .init(property: $0) }, isCompound: true))
        }
        return indexes
    }

    private mutating func elements(of index: MarkupElement) -> [FetchIndexDescription.Element] {
        var elements: [FetchIndexDescription.Element] = []
        for element in index.children(named: "fetchIndexElement") {
            guard let property = element.filled("property") else {
                log.warn(element.line, "An element of an index names no property. It is skipped.")
                continue
            }
            if let type = element.filled("type"), type != "Binary" {
                log.warn(element.line, "An index of type \(type) is made as a plain one.")
            }
            let order = element["order"] ?? "ascending"
            if !["ascending", "descending"].contains(order) {
                log.warn(element.line, "order=\"\(order)\" is unknown. The index is ascending.")
            }
            elements.append(.init(property: property, isAscending: order != "descending"))
        }
        return elements
    }
}
