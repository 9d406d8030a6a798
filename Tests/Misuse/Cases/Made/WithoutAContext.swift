// error: missing argument for parameter #1 in call
import CoreDataSource

func contact() -> Contact {
    Contact()
}
