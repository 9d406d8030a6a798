/// Where it is reported that a stored value is not of its attribute's type, and reads as another.
package final class DamagedValues: Sendable {
    package typealias Handler = @Sendable (EntityLayout, _ column: Int) -> Void

    private let handler = Guarded<Handler?>(nil)

    /// Sets who is notified. The same value may be reported again and again.
    package func connect(_ handler: @escaping Handler) {
        self.handler.withLock { $0 = handler }
    }

    func note(_ layout: EntityLayout, _ column: Int) {
        handler.withLock { $0 }?(layout, column)
    }
}

extension EntityLayout {
    /// Reports that a stored value is not of its attribute's type.
    package func noteDamage(_ column: Int) { damage.note(self, column) }
}

extension DataSourceError {
    package init(damagedColumn column: Int, _ layout: EntityLayout) {
        let attribute = layout.columns[column].name
        self.init(
            .damagedValue,
            "An object of \(layout.name) has a stored \(attribute) that is not a value of its type. It reads as the default "
                + "value. Another program or a damaged disk wrote it. Save the object again, or restore the store.",
            entityName: layout.name, attributeName: attribute)
    }
}
