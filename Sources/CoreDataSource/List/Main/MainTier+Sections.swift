internal import Foundation
internal import QueryLanguage
internal import RowStore

extension MainTier {
    /// Returns the section key of a list.
    ///
    /// - Parameter sort: The sort keys of the request.
    /// - Throws: `unknownAttribute`, `invalidPredicate`, `invalidRequest`, `unsupportedQuery`.
    func sectionKey<Object: ManagedObject>(
        _ sections: ListSections<Object>, _ sort: [SortKey], _ resolver: PredicateResolver
    ) throws(DataSourceError) -> SectionKey {
        switch sections.kind {
        case .property(let path): return try sectionKey(path.keyPath, sections.isAscending, resolver)
        case .titles(let title, let order):
            let (title, key) = (try title.resolved(resolver), try order.resolved(resolver))
            // In the order of the first key, different strings may compare equal. The exact key separates these
            // strings.
            let exact = key.order == .bytes ? [] : [SortKey(column: key.column, isAscending: key.isAscending)]
            return .keys([key, title] + exact, title: title.column)
        case .periods(let unit, let attribute, let calendar):
            let column = try attribute.resolved(resolver).column
            try check(column, isOf: .date, "days, weeks or months need an attribute with dates", resolver)
            let (periods, isAscending) = (CalendarPeriods(unit, calendar), sections.isAscending(column, sort))
            let followsSort = sort.first?.column == column && sort.first?.isAscending == isAscending
            return .computed(
                SectionKey.ComputedSection(
                    {
                        guard case .real(let moment) = $0.stored.value(column, .real) else { return .null }
                        return .integer(periods.period(of: moment))
                    }, isAscending: isAscending, followsSort: followsSort, periods: periods))
        case .firstLetters(let attribute, let collation):
            let column = try attribute.resolved(resolver).column
            try check(column, isOf: .text, "first letters need an attribute with strings", resolver)
            return .computed(
                SectionKey.ComputedSection(
                    {
                        guard case .text(let text) = $0.stored.value(column, .text) else {
                            return .text(FirstLetter.none)
                        }
                        return .text(FirstLetter.of(text, collation?.collation))
                    }, isAscending: sections.isAscending(column, sort),
                    compare: { FirstLetter.order($0, $1, collation?.collation) }))
        }
    }

    private func sectionKey<Object: ManagedObject>(
        _ path: PartialKeyPath<Object>, _ isAscending: Bool?, _ resolver: PredicateResolver
    ) throws(DataSourceError) -> SectionKey {
        if try RelatedKeyPaths.namesUnlessComputed(path, of: Object.self) != nil {
            let group = try GroupColumn(path, resolver, context)
            if !group.destinations.isEmpty { return try relatedKey(group, isAscending ?? true, resolver) }
            let column = group.column
            guard let isAscending else { return .column(column) }
            return .keys([SortKey(column: column, isAscending: isAscending)], title: column)
        }
        let (reader, path) = (detachedObjectFactory, SectionPath(keyPath: path))
        return .computed(
            SectionKey.ComputedSection(
                { row throws(DataSourceError) in
                    try reader.read(row, for: "a section", "a property of \(Object.self) that is not in the model") {
                        object in
                        guard let object = object as? Object else { return .null }
                        return sectionValue(object[keyPath: path.keyPath])
                    }
                }, isAscending: isAscending ?? true))
    }

    /// Returns the section key of a to-one relationship.
    private func relatedKey(
        _ group: GroupColumn, _ isAscending: Bool, _ resolver: PredicateResolver
    ) throws(DataSourceError) -> SectionKey {
        let destinations = group.destinations.map { stack.layout.entities[$0] }
        let key = SortKey(column: group.column, isAscending: isAscending)
        if destinations.count < 2 { return .related(key, entity: nil, destinations: destinations) }
        // The row has the entity of the related object, unless the link is in the row of another object.
        for relationship in resolver.layout.relationships {
            guard case .column(let link) = relationship.storage, link.key == group.column, let entity = link.entity
            else { continue }
            return .related(key, entity: SortKey(column: entity), destinations: destinations)
        }
        let names = destinations.map(\.name).joined(separator: ", ")
        throw DataSourceError(
            .unsupportedQuery,
            "A list of \(resolver.layout.name) cannot have sections by a related object that is reached through other objects and can have several entities (\(names)). Make sections by an attribute of the related object.",
            entityName: resolver.layout.name)
    }

    private func check(
        _ column: Int, isOf wanted: ValueKind, _ need: String, _ resolver: PredicateResolver
    ) throws(DataSourceError) {
        let layout = resolver.layout
        let kind: ValueKind? =
            JoinedColumn.isJoined(column)
            ? resolver.joins.columns[JoinedColumn.index(column)].kind
            : layout.columns[column].attribute.flatMap { ValueKind($0.type) }
        if kind == wanted { return }
        let name = JoinedColumn.isJoined(column) ? "the attribute" : layout.columns[column].name
        throw DataSourceError(
            .invalidRequest, "A list of \(layout.name) cannot have sections by \(name): \(need).",
            entityName: layout.name)
    }
}

extension ListSections {
    /// Whether sections that are made from an attribute are ascending.
    fileprivate func isAscending(_ column: Int, _ sort: [SortKey]) -> Bool {
        isAscending ?? (sort.first?.column == column ? sort[0].isAscending : true)
    }
}

/// Converts the value of a computed property to the value that sections compare.
private func sectionValue(_ value: Any) -> RowValue {
    switch value {
    case let value as any AttributeStorable: value.storedValue.value
    case let value as Substring: .text(String(value))
    case let value as Character: .text(String(value))
    default: .text(String(describing: value))
    }
}
